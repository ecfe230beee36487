# SPDX-License-Identifier: MIT
"""The cost of rasterising a smooth-shaded triangle, and of sending it as commands."""

from bench import programs
from bench.part import Column, Rows
from understudy_devices.base.programs import compiled
from understudy_devices.platforms.vm import card_programs

TITLE = "What a triangle costs"
TEXT = """
Valgrind counts the instructions while `guest/draw_triangles.c` draws triangles into a picture of
640 x 480, with a colour at each corner. *Size* is a triangle's height above its dominant edge. *By
commands* also includes the instructions that write each triangle to a buffer as commands of the
card zach1, and read the commands back. *They add* is this additional cost as a percentage of the
rasteriser's.

{{ triangles }}
"""
TABLES = {
    "triangles": (
        Column("size", "{size}"),
        Column("pixels", "{pixels:,.0f}"),
        Column("a triangle", "{raster:,.0f}"),
        Column("a pixel", "{a_pixel:.1f}"),
        Column("by commands", "{commands:,.0f}"),
        Column("they add (%)", "{added_percent:.1f}"),
    )
}
SIZES = {
    "full": {"triangles": 20_000},
    "quick": {"triangles": 4_000},
    "tiny": {"triangles": 20},
}
IN_VM = False
TRIANGLE_SIZES = (20, 40, 60, 80, 100)  # those in the dissertation's Table 3.1


def measure(triangles: int) -> Rows:
    """Yield a row for each size of triangle."""
    program = compiled(card_programs.drawing("drawing", "bench/parts/drawing.c"))
    for size in TRIANGLE_SIZES:
        pixels = programs.printed(program, "raster", size, triangles)
        raster, commands = (
            programs.instructions(program, f"by_{way}", way, size, triangles) / triangles
            for way in ("raster", "commands")
        )
        yield (
            "triangles",
            {
                "size": size,
                "pixels": pixels,
                "raster": raster,
                "a_pixel": raster / pixels,
                "commands": commands,
                "added_percent": 100 * (commands / raster - 1),
            },
        )
