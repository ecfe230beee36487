# SPDX-License-Identifier: MIT
"""The guest's programs that know a card: its header is generated when they are compiled."""

from functools import cache
from pathlib import Path

from understudy.base.errors import RunFailed, UserError
from understudy.base.programs import Program, compiled
from understudy.cards import specification
from understudy.cards.header import header
from understudy.cards.model import Card
from understudy.platforms.guest_programs import ANY_HEADERS

RASTER = ("guest/raster.c", "guest/triangle.c")
RASTER_HEADERS = ("guest/raster.h", "guest/walk.h")
TRIANGLES = ("guest/triangles.c", "core/draw.c")
TRIANGLES_HEADERS = ("guest/triangles.h", "core/draw.h", "core/port.h")


@cache
def registers(card: str) -> tuple[str, str]:
    """The header that a program includes as CARD_registers.h: where it is, and its text."""
    return f"guest/{card}_registers.h", header(specification.load(card))


@cache
def draw_triangles() -> Program:
    """Draws triangles and takes the time."""
    return Program(
        "draw_triangles",
        (
            "guest/draw_triangles.c",
            "guest/card_sink.c",
            "guest/renderer.c",
            "guest/commands.c",
            "guest/png.c",
            *RASTER,
            *TRIANGLES,
        ),
        (
            *ANY_HEADERS,
            *RASTER_HEADERS,
            "guest/renderer.h",
            "guest/card_sink.h",
            "guest/commands.h",
            "guest/png.h",
            "cards/drivers/zach1_driver.h",
            *TRIANGLES_HEADERS,
        ),
        generated=(registers("zach1"),),
    )


@cache
def vcd() -> Program:
    """The virtual console daemon."""
    return Program(
        "vcd",
        ("guest/vcd.c", "guest/commands.c", "guest/png.c", "guest/screen.c", *RASTER),
        (
            *ANY_HEADERS,
            *RASTER_HEADERS,
            "guest/commands.h",
            "guest/png.h",
            "guest/screen.h",
            "kernel/vgpu/console.h",
        ),
        generated=(registers("zach1"),),
    )


def exercise(source: Path, driver: Path, card: Card) -> Path:
    """What a driver has to stand, as the guest runs it: a shell script as it is, a C program
    compiled, with the card's header and those that lie beside it or beside the driver.

    UserError if there is none, or with the compiler's words if it does not build.
    """
    source = source.absolute()
    if not source.is_file():
        raise UserError(f"{source}: no exercise there: a shell script, or a C program")
    if source.suffix != ".c":
        return source
    beside = {found.name: found for near in (driver, source) for found in near.parent.glob("*.h")}
    headers = {name: found.read_text() for name, found in beside.items()}
    headers[f"{card.name}_registers.h"] = header(card)
    generated = tuple((str(source.with_name(name)), text) for name, text in headers.items())
    flags = ("-static", "-Wno-error")
    try:
        return compiled(Program(source.stem, (str(source),), flags=flags, generated=generated))
    except RunFailed as error:
        words = str(error).partition("\n")[2].replace(str(source).lstrip("/"), str(source))
        raise UserError(f"{source} does not build:\n{words}") from error
