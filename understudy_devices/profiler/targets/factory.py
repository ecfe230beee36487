# SPDX-License-Identifier: MIT
"""Makes a target from its name on the command line, module:factory."""

import sys
from importlib import import_module
from pathlib import Path

from understudy_devices.base.cache import digest_of_files
from understudy_devices.base.errors import UserError
from understudy_devices.device.target import Target

NEEDED = ("capacity_sectors", "writable", "request")


def target(name: str) -> Target:
    """Call the factory and return its target; modules may be in the current folder."""
    module, _, factory = name.partition(":")
    if not module or not factory:
        raise UserError(f"--target: {name}: not of the form module:factory")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        instance: Target = getattr(import_module(module), factory)()
    except Exception as error:
        message = " ".join(f"{type(error).__name__}: {error}".split())
        raise UserError(f"--target: {name}: {message}") from error
    missing = [need for need in NEEDED if not hasattr(instance, need)]
    if missing:
        raise UserError(f"--target: {name}: the returned target has no {', '.join(missing)}")
    return instance


def code(name: str) -> str:
    """Return a digest of the source of a target's module, which must be loaded."""
    file = getattr(sys.modules[name.partition(":")[0]], "__file__", None)
    return digest_of_files([Path(file)] if file else [])
