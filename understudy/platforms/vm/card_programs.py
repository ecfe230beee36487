# SPDX-License-Identifier: MIT
"""The guest's programs that know a card: its header is generated when they are compiled."""

from functools import cache

from understudy.base.programs import Program
from understudy.cards import specification
from understudy.cards.header import header
from understudy.platforms.vm.guest_programs import ANY_HEADERS

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
        ("guest/vcd.c", "guest/commands.c", "guest/png.c", *RASTER),
        (
            *ANY_HEADERS,
            *RASTER_HEADERS,
            "guest/commands.h",
            "guest/png.h",
            "kernel/vgpu/console.h",
        ),
        generated=(registers("zach1"),),
    )
