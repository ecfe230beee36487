# SPDX-License-Identifier: MIT
"""Our kernel modules, built against an unpacked kernel and cached by content.

Each scheduler's module is built and kept for itself, from its file and one object that all
of them share.  The bytes of a module depend on its own sources, the kernel and the
compiler, and on no path.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from understudy.base import sources
from understudy.base.cache import cached_folder, digest
from understudy.base.errors import RunFailed, UserError
from understudy.base.programs import compiler_version
from understudy.native import registry
from understudy.platforms.vm.packages import Kernel

KBUILD = "kernel/Kbuild"
SHARED = "iosched.o"


def base_modules(kernel: Kernel) -> list[Path]:
    """Those that are no schedulers."""
    taken = sources.matching("core/*.[ch]", "kernel/*/*.[ch]", KBUILD)
    folder = _built(kernel, "base", taken, {}, "*.ko")
    return sorted(folder.glob("*.ko"))


def scheduler_module(kernel: Kernel, name: str) -> Path:
    """The module of a scheduler that the registry knows; UserError if it does not compile."""
    file = registry.source(name)
    place = f"{registry.FOLDER}/{name}.c"
    taken = {**sources.matching("core/*.h", KBUILD), place: file.text}
    shared = {f"{SHARED}_shipped": _shared_object(kernel).read_bytes(), f".{SHARED}.cmd": b""}
    try:
        folder = _built(kernel, name, taken, shared, f"{name}.ko")
    except RunFailed as error:
        words = str(error).partition("\n")[2].replace(place, file.shown)
        raise UserError(registry.does_not_compile(file, words)) from error
    return folder / f"{name}.ko"


def _shared_object(kernel: Kernel) -> Path:
    taken = sources.matching("core/*.[ch]", "kernel/iosched/*.[ch]", "kernel/port/*.c", KBUILD)
    return _built(kernel, "iosched", taken, {}, SHARED) / SHARED


def _built(
    kernel: Kernel, part: str, taken: Mapping[str, bytes], made: Mapping[str, bytes], result: str
) -> Path:
    """The folder with what kbuild makes of a part (kernel/Kbuild): files like `result`."""
    content = [kernel.folder.name.encode(), compiler_version().encode(), *sources.parts(taken)]
    key = digest([*content, *sources.parts(made)])

    def make(folder: Path) -> None:
        tree = folder / "tree"
        sources.write({**taken, **made, "Kbuild": taken[KBUILD]}, tree)
        _make(kernel, tree, part, SHARED if result == SHARED else "modules")
        for found in tree.glob(result):
            shutil.move(found, folder)
        shutil.rmtree(tree)

    return cached_folder(f"modules/{part}-{key}", make)


def _make(kernel: Kernel, tree: Path, part: str, target: str) -> None:
    """Without debugging information, of which a hash would stay, and without paths."""
    done = subprocess.run(
        [
            "make",
            "-C",
            str(kernel.headers),
            f"M={tree}",
            f"PART={part}",
            f"PRIVATE={kernel.private_headers}",
            f"KCFLAGS=-g0 -ffile-prefix-map={tree}/= -ffile-prefix-map={kernel.folder}/=",
            f"-j{os.cpu_count()}",
            target,
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C", "MAKEFLAGS": ""},
    )
    if done.returncode:
        words = done.stderr.replace(f"{tree}/", "").splitlines()
        said = [line for line in words if not re.match(r"make(\[\d+\])?:", line)]
        raise RunFailed("\n".join([f"the kernel module {part} does not build:", *said[:40]]))


# What lies in the cache does not change: it is read once a command.


@cache
def _needed_by(module: Path) -> list[str]:
    """The names in the "depends" of a module's .modinfo section."""
    found = re.findall(rb"(?:^|\0)depends=([^\0]*)", module.read_bytes())
    return [name for value in found for name in value.decode().split(",") if name]


@cache
def _of_kernel(folder: Path) -> dict[str, Path]:
    return _by_name(folder.rglob("*.ko"))


def _by_name(paths: Iterable[Path]) -> dict[str, Path]:
    return {path.stem.replace("-", "_"): path for path in paths}


class ModuleTree:
    """Finds modules by name, the kernel's and ours, and what they need first."""

    def __init__(self, kernel: Kernel, ours: Iterable[Path]) -> None:
        self._path = _of_kernel(kernel.modules) | _by_name(ours)

    def path(self, name: str) -> Path | None:
        """The module's file, or None: it is built into the kernel."""
        return self._path.get(name.replace("-", "_"))

    def in_load_order(self, names: list[str]) -> list[Path]:
        """The modules and all that they depend on, each after what it needs."""
        ordered: dict[Path, None] = {}
        for name in names:
            self._add(name, ordered)
        return list(ordered)

    def _add(self, name: str, ordered: dict[Path, None]) -> None:
        path = self.path(name)
        if path is None or path in ordered:
            return
        for needed in _needed_by(path):
            self._add(needed, ordered)
        ordered[path] = None
