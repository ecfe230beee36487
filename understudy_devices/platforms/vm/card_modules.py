# SPDX-License-Identifier: MIT
"""The modules of virtual cards and of their drivers."""

import re
import shutil
from pathlib import Path
from typing import NamedTuple

from understudy_devices.base import elf, sandbox, sources
from understudy_devices.base.errors import NotCompiled, RunFailed, UserError
from understudy_devices.base.plain import plain, quoted
from understudy_devices.cards import specification
from understudy_devices.cards.header import header
from understudy_devices.cards.model import Card
from understudy_devices.cards.table import table
from understudy_devices.platforms.vm.modules import (
    CARD,
    EXPORTED,
    KBUILD,
    base,
    base_modules,
    built,
    checked,
    made,
)
from understudy_devices.platforms.vm.packages import Kernel

RAW_POINTER = re.compile(
    r"^([\w.-]+:\d+):\d+: warning: ((?:.*different address spaces|.*removes address space"
    r"|dereference of noderef).*)((?:\n[^\n]*:    (?:expected|got) .*)*)",
    re.MULTILINE,
)
"""A warning of sparse about a file in the driver's folder, and the types that it names."""
IGNORED = re.compile(r"^([\w.-]+:\d+):\d+: warning: ignoring return value of \W(\w+)", re.MULTILINE)
"""A warning of the compiler about a call whose result must be looked at (__must_check)."""
OTHER_SPACE = re.compile(r"__rcu|__percpu")
PLAIN_CARD = """\
#include "../kernel/vgpu/device.h"
#include "{name}_table.h"

const struct behaviour card_behaviour = {{ .table = &{name}_table }};
"""


def card(kernel: Kernel, name: str | Path) -> Path:
    """Build the module card_NAME, which acts as the card: the device of kernel/vgpu with the card's
    specification. Return the module's path.

    NAME.c in the specification's folder defines the card's behaviour, with further files in the
    folder NAME if it is large; without NAME.c the card's registers have no special behaviour.

    UserError with the compiler's messages if it does not compile.
    """
    spec = specification.load(name)
    source = specification.file_of(name).with_suffix(".c")
    text = specification.beside(name, source.name)
    if text is None:
        text = PLAIN_CARD.format(name=spec.name).encode()
    part = f"{CARD}{spec.name}"
    headers = {
        f"cards/{spec.name}_registers.h": header(spec).encode(),
        f"cards/{spec.name}_table.h": table(spec).encode(),
    }
    globs = ("core/port.h", "core/cards/*.[ch]", "kernel/vgpu/*.[ch]", "kernel/vpcib/*.h", KBUILD)
    place = f"cards/{spec.name}.c"
    further = {
        f"cards/{spec.name}/{file.name}": content
        for file in sorted(source.with_suffix("").glob("*.[ch]"))
        if (content := specification.beside(name, f"{source.stem}/{file.name}")) is not None
    }
    exported = {f"base/{EXPORTED}": (base(kernel) / EXPORTED).read_bytes()}
    files = {**sources.matching(*globs), place: text, **further, **headers}
    try:
        stranger = sandbox.stranger(source)
        built_in = built(kernel, part, files, exported, f"{part}.ko", stranger=stranger)
    except NotCompiled as error:
        words = error.words.replace(place, str(source))
        raise UserError(f"{source} does not build:\n{quoted(words)}") from error
    return built_in / f"{part}.ko"


def driver(kernel: Kernel, source: Path, card: Card) -> Path:
    """Build the module of a card's driver: from one C file and the headers in the same folder, or
    from a folder of C files.  A built module, NAME.ko, is used as it is.

    A folder may have a Kbuild file, which names the module; without it, the module has the folder's
    name and consists of all its C files.  The only header of the project that the driver can
    include is the card's.

    UserError with the compiler's messages if it does not compile.
    """
    if source.suffix == ".ko":
        return _built_module(kernel, source, card)
    name, files = _parts(source, card)
    if not re.fullmatch(r"[\w-]+", name, re.ASCII) or _is_taken(name, kernel, card):
        kind = "folder, or the module in its Kbuild" if source.is_dir() else "file"
        raise UserError(f"{source}: a module can't be called {name!r}: rename the {kind}")
    try:
        stranger = sandbox.stranger(source)
        built_in = made(kernel, f"driver-{name}", files, f"{name}.ko", stranger=stranger)
    except NotCompiled as error:
        raise UserError(f"{source} does not build:\n{quoted(error.words)}") from error
    return built_in / f"{name}.ko"


class Warnings(NamedTuple):
    """Places in a driver's source, as FILE:LINE: reason."""

    ignored: list[str]
    """Where the result of a call is ignored that the kernel says must be looked at."""
    raw_pointers: list[str] | None
    """Where a pointer to registers or to a process's memory is used as an ordinary pointer, or the
    other way round.  None if sparse has not looked: it is not installed, or takes too long.
    """


def warnings(kernel: Kernel, source: Path, card: Card) -> Warnings | None:
    """Return what compiler and sparse say of a driver that builds; None if it is a built module."""
    if source.suffix == ".ko":
        return None
    name, files = _parts(source, card)

    def said(checker: str) -> str:
        stranger = sandbox.stranger(source)
        return checked(kernel, f"driver-{name}", files, checker, stranger=stranger)

    text, has_looked = "", bool(shutil.which("sparse"))
    if has_looked:
        try:
            text = said("sparse")
        except RunFailed:
            has_looked = False
    if not has_looked:
        text = said("true")
    pointers = [
        f"{place}: {why}"
        for place, why, types in RAW_POINTER.findall(text)
        if not OTHER_SPACE.search(types)
    ]
    ignored = [f"{place}: {function}" for place, function in IGNORED.findall(text)]
    return Warnings(ignored, pointers if has_looked else None)


def _parts(source: Path, card: Card) -> tuple[str, dict[str, bytes]]:
    """Return the name of a driver's module, and the files that it is built from."""
    name, files = _folder(source) if source.is_dir() else _file(source)
    return name, {**files, f"{card.name}_registers.h": header(card).encode()}


def _built_module(kernel: Kernel, source: Path, card: Card) -> Path:
    """Return the path of a module that the user has built; UserError if it can't be loaded."""
    facts = _facts(source)
    wanted = _facts(base_modules(kernel)[0])["vermagic"]
    name, version = facts.get("name", ""), facts.get("vermagic", "")
    if version != wanted:
        raise UserError(
            f"{source}: built for the kernel {plain(version.strip())!r}, but the VM's is "
            f"{wanted.strip()!r}: build it with make -C {kernel.headers}, or give its source"
        )
    if name != source.stem.replace("-", "_"):
        raise UserError(f"{source}: its module is called {plain(name)!r}: rename it to {name}.ko")
    if not re.fullmatch(r"\w+", name, re.ASCII) or _is_taken(name, kernel, card):
        raise UserError(f"{source}: a module can't be called {name!r}: build it with another name")
    return source.absolute()


def needed_by(driver: Path) -> list[str]:
    """Return the names of the modules that a built module depends on."""
    return [name for name in _facts(driver).get("depends", "").split(",") if name]


def _facts(module: Path) -> dict[str, str]:
    """Return what a module says of itself, as modinfo prints; UserError if it is no module."""
    try:
        info = dict(elf.sections(_read(module))).get(".modinfo", b"")
    except ValueError as error:
        raise UserError(f"{module}: {error}: name a built module, or a C file") from error
    if not info:
        raise UserError(f"{module}: no kernel module: name a built module, or a C file")
    lines = [line for line in info.decode(errors="replace").split("\0") if "=" in line]
    return {key: value for key, _, value in (line.partition("=") for line in lines)}


def _file(source: Path) -> tuple[str, dict[str, bytes]]:
    """Return the name and the files of a driver of one C file."""
    if source.suffix != ".c":
        raise UserError(
            f"{source}: a driver is one C file, NAME.c, a folder of C files, or a module, NAME.ko"
        )
    return source.stem, {
        "Kbuild": f"obj-m := {source.stem}.o\n".encode(),
        source.name: _read(source),
        **{beside.name: _read(beside) for beside in source.parent.glob("*.h")},
    }


def _folder(source: Path) -> tuple[str, dict[str, bytes]]:
    """Return the name and the files of a driver in a folder."""
    paths = [path for path in sorted(source.glob("*.[ch]")) if not path.match("*.mod.c")]
    files = {path.name: _read(path) for path in paths}
    objects = [name[:-2] + ".o" for name in files if name.endswith(".c")]
    if not objects:
        raise UserError(f"{source}: no C file there: name a driver's folder, or its C file")
    kbuild = source / "Kbuild"
    if kbuild.exists():
        files["Kbuild"] = _read(kbuild)
        names = re.findall(rb"^obj-m\s*[:+]?=\s*([\w-]+)\.o\s*$", files["Kbuild"], re.MULTILINE)
        if len(names) != 1:
            raise UserError(f"{kbuild}: it must name one module, as obj-m := NAME.o")
        return names[0].decode(), files
    name = source.resolve().name
    if objects != [f"{name}.o"] and f"{name}.o" in objects:
        raise UserError(f"{source}: {name}.c is one of several files: rename the folder")
    parts = "" if objects == [f"{name}.o"] else f"{name}-y := {' '.join(objects)}\n"
    files["Kbuild"] = f"obj-m := {name}.o\n{parts}".encode()
    return name, files


def _is_taken(name: str, kernel: Kernel, card: Card) -> bool:
    """Return whether a module is loaded before a driver that has this name, or its file."""
    names = (f"{CARD}{card.name}", "card", *(path.stem for path in base_modules(kernel)))
    return name.replace("-", "_") in {taken.replace("-", "_") for taken in names}


def _read(source: Path) -> bytes:
    try:
        return source.read_bytes()
    except OSError as error:
        raise UserError(f"{source}: {error.strerror}") from error
