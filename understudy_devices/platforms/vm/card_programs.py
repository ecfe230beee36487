# SPDX-License-Identifier: MIT
"""The guest's programs that use a card; the card's header is generated when they are compiled."""

from pathlib import Path

from understudy_devices.base import sandbox
from understudy_devices.base.errors import NotCompiled, UserError
from understudy_devices.base.plain import quoted
from understudy_devices.base.programs import Program, compiled_for_guest
from understudy_devices.cards import specification
from understudy_devices.cards.header import header
from understudy_devices.cards.model import Card
from understudy_devices.platforms import guest_programs

ZACH1 = "zach1"
RASTER = ("guest/raster.c", "guest/triangle.c")


def registers(card: Card | None = None) -> tuple[str, str]:
    """Return the path and the text of zach1_registers.h, which programs include. The text is for
    `card` if that is a zach1, else for the project's zach1.
    """
    own = card if card and card.name == ZACH1 else specification.load(ZACH1)
    return f"guest/{ZACH1}_registers.h", header(own)


def draw_triangles(card: Card | None = None) -> Program:
    """Return the program that draws triangles and times them."""
    return drawing("draw_triangles", "guest/draw_triangles.c", card)


def vcd(card: Card | None = None) -> Program:
    """Return the virtual console daemon."""
    return drawing("vcd", "guest/vcd.c", card)


def drawing(name: str, source: str, card: Card | None = None) -> Program:
    """Return a program that rasterises: its source, and the sources that belong to its headers."""
    sources = dict.fromkeys((*guest_programs.linked(source), *RASTER))
    return Program(name, tuple(sources), generated=(registers(card),))


def exercise(source: Path, driver: Path, card: Card) -> Path:
    """Return the path of a driver's exercise, ready to run in the guest.

    A shell script is used as it is.  A C program is compiled with the card's header, and with
    headers in the program's or the driver's folder.

    UserError if there is no such file, or with the compiler's messages if it does not compile.
    """
    source = source.absolute()
    if not source.is_file():
        raise UserError(f"{source}: no exercise there: a shell script, or a C program")
    if source.suffix != ".c":
        return source
    folders = (driver if driver.is_dir() else driver.parent, source.parent)
    beside = {file.name: file for folder in folders for file in folder.glob("*.h")}
    headers = {name: file.read_text() for name, file in beside.items()}
    headers[f"{card.name}_registers.h"] = header(card)
    generated = tuple((str(source.with_name(name)), text) for name, text in headers.items())
    flags = ("-static", "-Wno-error")
    program = Program(
        source.stem,
        (str(source),),
        flags=flags,
        generated=generated,
        stranger=sandbox.stranger(source),
    )
    try:
        return compiled_for_guest(program)
    except NotCompiled as error:
        words = error.words.replace(str(source).lstrip("/"), str(source))
        raise UserError(f"{source} does not build:\n{quoted(words)}") from error
