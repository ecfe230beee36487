# SPDX-License-Identifier: MIT
"""The project's kernel modules, built against an unpacked kernel and cached by content.

Each scheduler's module is built and cached separately, from its file and one object that all
schedulers share.  A module's bytes depend only on its own sources, the kernel and the compiler, not
on paths.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from understudy_devices.base import sandbox, sources
from understudy_devices.base.cache import cached_folder, digest
from understudy_devices.base.errors import NotCompiled, UserError
from understudy_devices.base.programs import GUEST_COMPILER, GUEST_PREFIX, compiler_version
from understudy_devices.native import registry
from understudy_devices.platforms.vm.packages import Kernel

KBUILD = "kernel/Kbuild"
SHARED = "iosched.o"
EXPORTED = "Module.symvers"
SAID = "said.txt"
CARD = "card_"
"""Prefix of a card module's name, followed by the card's name."""
STRANGERS_CPU_SECONDS = 60
"""The kernel's headers alone take a slow host seconds, and kbuild runs many processes."""


def ours(kernel: Kernel, names: Iterable[str]) -> list[Path]:
    """Return the project's modules, including those of the wanted schedulers and cards."""
    schedulers = [scheduler_module(kernel, name) for name in names if registry.known(name)]
    cards = [name.removeprefix(CARD) for name in names if name.startswith(CARD)]
    return [*base_modules(kernel), *schedulers, *_cards(kernel, cards)]


def _cards(kernel: Kernel, names: Sequence[str]) -> list[Path]:
    if not names:
        return []
    from understudy_devices.platforms.vm import card_modules  # few guests have a card

    return [card_modules.card(kernel, name) for name in names]


def base_modules(kernel: Kernel) -> list[Path]:
    """Return the modules that are neither schedulers nor cards."""
    return sorted(base(kernel).glob("*.ko"))


def base(kernel: Kernel) -> Path:
    """Return the folder of the base modules and their exported symbols."""
    files = sources.matching(*sources.CORE, "kernel/*/*.[ch]", KBUILD)
    return built(kernel, "base", files, {}, "*.ko", EXPORTED)


def scheduler_module(kernel: Kernel, name: str) -> Path:
    """Return the module of a scheduler in the registry; UserError if it does not compile."""
    file = registry.source(name)
    place = f"{registry.FOLDER}/{name}.c"
    files = {**sources.matching(*sources.CORE_HEADERS, KBUILD), place: file.text}
    shared = {f"{SHARED}_shipped": _shared_object(kernel).read_bytes(), f".{SHARED}.cmd": b""}
    try:
        folder = built(kernel, name, files, shared, f"{name}.ko", stranger=file.stranger)
    except NotCompiled as error:
        words = error.words.replace(place, file.shown)
        raise UserError(registry.does_not_compile(file, words)) from error
    return folder / f"{name}.ko"


def _shared_object(kernel: Kernel) -> Path:
    files = sources.matching(*sources.CORE, "kernel/iosched/*.[ch]", "kernel/port/*.c", KBUILD)
    return built(kernel, "iosched", files, {}, SHARED) / SHARED


def built(
    kernel: Kernel,
    part: str,
    files: Mapping[str, bytes],
    beside: Mapping[str, bytes],
    *globs: str,
    stranger: str = "",
) -> Path:
    """Build a part of kernel/Kbuild; return the folder with those of the resulting files that match
    `globs`.
    """
    return made(
        kernel, part, {**files, **beside, "Kbuild": files[KBUILD]}, *globs, stranger=stranger
    )


def made(
    kernel: Kernel, part: str, tree: Mapping[str, bytes], *globs: str, stranger: str = ""
) -> Path:
    """Build a tree with kbuild, in a sandbox if the tree is a user's. Return the folder with those
    of the resulting files that match `globs`.
    """
    compiler = compiler_version(GUEST_COMPILER).encode()
    content = [kernel.folder.name.encode(), compiler, *sources.parts(tree)]

    def make(folder: Path) -> None:
        place = folder / "tree"
        sources.write(tree, place)
        _make(kernel, place, part, SHARED if globs == (SHARED,) else "modules", stranger=stranger)
        for file in [path for pattern in globs for path in place.glob(pattern)]:
            shutil.move(file, folder)
        shutil.rmtree(place)

    return cached_folder(f"modules/{part}-{digest(content)}", make)


def checked(
    kernel: Kernel, part: str, tree: Mapping[str, bytes], checker: str, *, stranger: str
) -> str:
    """Return what the compiler and a checker, such as sparse, say of a tree that builds, with the
    tree's own paths.
    """
    compiler = compiler_version(GUEST_COMPILER).encode()
    content = [kernel.folder.name.encode(), compiler, checker.encode(), *sources.parts(tree)]

    def make(folder: Path) -> None:
        place = folder / "tree"
        sources.write(tree, place)
        done = _kbuild(kernel, place, part, "modules", "C=2", f"CHECK={checker}", stranger=stranger)
        (folder / SAID).write_text(done.stderr.replace(f"{place}/", ""))
        shutil.rmtree(place)

    return (cached_folder(f"checked/{part}-{digest(content)}", make) / SAID).read_text()


def _looked_through(kernel: Kernel, target: str) -> list[str]:
    """Return arguments of make that turn objtool off for objects that become part of modules.

    On a kernel with landing pads (IBT), objtool must check a module only once, as a whole.
    """
    return ["objtool-enabled="] if kernel.has("CONFIG_X86_KERNEL_IBT") and target == SHARED else []


def _make(kernel: Kernel, tree: Path, part: str, target: str, *, stranger: str) -> None:
    """Run kbuild; NotCompiled with the compiler's messages if it fails."""
    done = _kbuild(kernel, tree, part, target, stranger=stranger)
    if done.returncode:
        words = done.stderr.replace(f"{tree}/", "").splitlines()
        messages = [line for line in words if not re.match(r"make(\[\d+\])?:", line)]
        raise NotCompiled(
            f"the kernel module {part} does not build", "\n".join((messages or words)[:40])
        )


def _kbuild(
    kernel: Kernel, tree: Path, part: str, target: str, *further: str, stranger: str
) -> subprocess.CompletedProcess[str]:
    """Run kbuild so that a module contains neither paths nor debugging information; even a hash of
    the latter would remain in the module.

    Warnings stay warnings, such as those about unused variables, even where the kernel treats them
    as errors.
    """
    paths = f"-ffile-prefix-map={tree}/= -ffile-prefix-map={kernel.folder}/="
    command = [
        "make",
        "-C",
        str(kernel.headers),
        f"M={tree}",
        f"PART={part}",
        f"PRIVATE={kernel.private_headers}",
        f"CROSS_COMPILE={GUEST_PREFIX}",
        "CONFIG_DEBUG_INFO_BTF_MODULES=",
        *_looked_through(kernel, target),
        f"KCFLAGS=-g0 -Wno-error {paths}",
        f"-j{os.cpu_count()}",
        *further,
        target,
    ]
    folders = (kernel.folder, kernel.headers.resolve(), kernel.private_headers)
    return sandbox.compiled(
        command,
        tree,
        "make",
        stranger=stranger,
        readable=folders,
        cpu_seconds=STRANGERS_CPU_SECONDS,
    )


# Files in the cache never change, so each is read once per command.


@cache
def _needed_by(module: Path) -> list[str]:
    """Return the names in the "depends" of a module's .modinfo section."""
    values = re.findall(rb"\0depends=([^\0]*)", b"\0" + module.read_bytes())
    return [name for value in values for name in value.decode().split(",") if name]


@cache
def _of_kernel(folder: Path) -> dict[str, str]:
    """Return the path of each of the kernel's modules by name; there are thousands."""
    return {
        _name(file): f"{parent}/{file}"
        for parent, _, files in os.walk(folder)
        for file in files
        if file.endswith(".ko")
    }


def _name(file: str) -> str:
    return file.removesuffix(".ko").replace("-", "_")


class ModuleTree:
    """Finds modules by name, both the kernel's and the project's, and their dependencies."""

    def __init__(self, kernel: Kernel, ours: Iterable[Path]) -> None:
        self._path = _of_kernel(kernel.modules) | {_name(each.name): str(each) for each in ours}

    def path(self, name: str) -> Path | None:
        """Return the module's file, or None if the module is built into the kernel."""
        file = self._path.get(_name(name))
        return Path(file) if file else None

    def in_load_order(self, names: list[str]) -> list[Path]:
        """Return the modules and all their dependencies, each after the modules that it needs."""
        ordered: dict[Path, None] = {}
        for name in names:
            self._add(name, ordered)
        return list(ordered)

    def _add(self, name: str, ordered: dict[Path, None], above: tuple[Path, ...] = ()) -> None:
        """Add a module after its dependencies. A user's module that depends on itself is added,
        too.
        """
        path = self.path(name)
        if path is None or path in ordered or path in above:
            return
        for needed in _needed_by(path):
            self._add(needed, ordered, (*above, path))
        ordered[path] = None
