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
from understudy.cards import specification
from understudy.cards.header import header
from understudy.cards.model import Card
from understudy.cards.table import table
from understudy.native import registry
from understudy.platforms.vm.packages import Kernel

KBUILD = "kernel/Kbuild"
SHARED = "iosched.o"
EXPORTED = "Module.symvers"
CARD = "card_"
"""Begins the name of a card's module: what follows is the card's."""
PLAIN_CARD = """\
#include "../kernel/vgpu/device.h"
#include "{name}_table.h"

const struct behaviour card_behaviour = {{ .table = &{name}_table }};
"""


def ours(kernel: Kernel, wanted: Iterable[str]) -> list[Path]:
    """Our modules, with those of the wanted schedulers and cards."""
    made = [scheduler_module(kernel, name) for name in wanted if registry.known(name)]
    cards = [name.removeprefix(CARD) for name in wanted if name.startswith(CARD)]
    return [*base_modules(kernel), *made, *(card_module(kernel, name) for name in cards)]


def base_modules(kernel: Kernel) -> list[Path]:
    """Those that are neither schedulers nor cards."""
    return sorted(_base(kernel).glob("*.ko"))


def _base(kernel: Kernel) -> Path:
    taken = sources.matching("core/*.[ch]", "kernel/*/*.[ch]", KBUILD)
    return _built(kernel, "base", taken, {}, "*.ko", EXPORTED)


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


def card_module(kernel: Kernel, name: str | Path) -> Path:
    """The module card_NAME, which is a card: the device of kernel/vgpu with its specification
    and how it behaves, which is in NAME.c beside that; without it, as registers do.

    UserError with the compiler's own words if that does not build.
    """
    card = specification.load(name)
    source = specification.file_of(name).with_suffix(".c")
    text = _read(source) if source.exists() else PLAIN_CARD.format(name=card.name).encode()
    part = f"{CARD}{card.name}"
    headers = {
        f"cards/{card.name}_registers.h": header(card).encode(),
        f"cards/{card.name}_table.h": table(card).encode(),
    }
    wanted = ("core/port.h", "core/cards/*.[ch]", "kernel/vgpu/*.[ch]", "kernel/vpcib/*.h", KBUILD)
    place = f"cards/{card.name}.c"
    exported = {f"base/{EXPORTED}": (_base(kernel) / EXPORTED).read_bytes()}
    taken = {**sources.matching(*wanted), place: text, **headers}
    try:
        return _built(kernel, part, taken, exported, f"{part}.ko") / f"{part}.ko"
    except RunFailed as error:
        words = str(error).partition("\n")[2].replace(place, str(source))
        raise UserError(f"{source} does not build:\n{words}") from error


def driver_module(kernel: Kernel, source: Path, card: Card) -> Path:
    """The module of a card's driver, built from one C file and the headers beside it; of us
    it knows nothing but the card's header.

    UserError with the compiler's own words if it does not build.
    """
    name = source.stem
    if source.suffix != ".c":
        raise UserError(f"{source}: a driver is one C file, NAME.c")
    if not re.fullmatch(r"[\w-]+", name, re.ASCII) or name in _taken(kernel, card):
        raise UserError(f"{source}: a module can't be called {name!r}: name the file otherwise")
    taken = {
        "Kbuild": f"obj-m := {name}.o\n".encode(),
        source.name: _read(source),
        **{beside.name: _read(beside) for beside in source.parent.glob("*.h")},
        f"{card.name}_registers.h": header(card).encode(),
    }
    try:
        return _made(kernel, f"driver-{name}", taken, f"{name}.ko") / f"{name}.ko"
    except RunFailed as error:
        words = str(error).partition("\n")[2]
        raise UserError(f"{source} does not build:\n{words}") from error


def _taken(kernel: Kernel, card: Card) -> set[str]:
    """Names of the modules that are there when a driver is loaded."""
    return {f"{CARD}{card.name}", *(path.stem for path in base_modules(kernel))}


def _read(source: Path) -> bytes:
    try:
        return source.read_bytes()
    except OSError as error:
        raise UserError(f"{source}: {error.strerror}") from error


def _shared_object(kernel: Kernel) -> Path:
    taken = sources.matching("core/*.[ch]", "kernel/iosched/*.[ch]", "kernel/port/*.c", KBUILD)
    return _built(kernel, "iosched", taken, {}, SHARED) / SHARED


def _built(
    kernel: Kernel, part: str, taken: Mapping[str, bytes], made: Mapping[str, bytes], *kept: str
) -> Path:
    """The folder with what kbuild makes of a part (kernel/Kbuild): files like those kept."""
    return _made(kernel, part, {**taken, **made, "Kbuild": taken[KBUILD]}, *kept)


def _made(kernel: Kernel, part: str, tree: Mapping[str, bytes], *kept: str) -> Path:
    """The folder with what kbuild makes of a tree."""
    content = [kernel.folder.name.encode(), compiler_version().encode(), *sources.parts(tree)]

    def make(folder: Path) -> None:
        place = folder / "tree"
        sources.write(tree, place)
        _make(kernel, place, part, SHARED if kept == (SHARED,) else "modules")
        for found in [path for pattern in kept for path in place.glob(pattern)]:
            shutil.move(found, folder)
        shutil.rmtree(place)

    return cached_folder(f"modules/{part}-{digest(content)}", make)


def _looked_through(kernel: Kernel, target: str) -> list[str]:
    """Of a kernel with landing pads a module is looked through once, when it is whole; an
    object that becomes a part of others must not be yet."""
    pads = "CONFIG_X86_KERNEL_IBT=y" in (kernel.headers / ".config").read_text().splitlines()
    return ["objtool-enabled="] if pads and target == SHARED else []


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
            "CONFIG_DEBUG_INFO_BTF_MODULES=",
            *_looked_through(kernel, target),
            f"KCFLAGS=-g0 -ffile-prefix-map={tree}/= -ffile-prefix-map={kernel.folder}/=",
            f"-j{os.cpu_count()}",
            target,
        ],
        capture_output=True,
        text=True,
        errors="replace",
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
