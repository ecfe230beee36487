# SPDX-License-Identifier: MIT
"""The kinds of check: a file each, with a class `Kind`, found without a list.

An assignment may have kinds of its own in its folder checks/; they travel with it.
"""

import pkgutil
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from understudy_devices.base.errors import UserError
from understudy_devices.course.check import Check


@cache
def ours() -> dict[str, str]:
    """Return the module of each kind that comes with the project."""
    return {
        name.replace("_", "-"): f"{__name__}.{name}"
        for _, name, _ in pkgutil.iter_modules(__path__)
    }


def names(folder: Path) -> list[str]:
    """Return the names of all kinds that an assignment can use."""
    return sorted({*ours(), *(_name(file) for file in folder.glob("checks/[!_]*.py"))})


def kind(name: str, folder: Path) -> type[Check]:
    """Return a kind of check; only its module is imported."""
    if name in ours():
        module = import_module(ours()[name])
    else:
        file = next(file for file in folder.glob("checks/*.py") if _name(file) == name)
        spec = spec_from_file_location(f"{folder.name}_{file.stem}", file)
        assert spec
        assert spec.loader
        module = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            raise UserError(f"{file}: cannot be imported: {error}") from error
    found = getattr(module, "Kind", None)
    if not (isinstance(found, type) and issubclass(found, Check)):
        raise UserError(f"{module.__file__}: has no class Kind(Check)")
    return found


def _name(file: Path) -> str:
    return file.stem.replace("_", "-")
