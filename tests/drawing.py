# SPDX-License-Identifier: MIT
"""The guest's drawing code from Python, and pictures that detect writes outside their bounds."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from cffi import FFI
from places import CHECKOUT
from raster_reference import Corner, Pixels

from understudy_devices.base.programs import Program, compiled
from understudy_devices.platforms.vm import card_programs

HEADERS = ("guest/raster.h", "guest/commands.h", "guest/ppm.h")
BESIDE = 0xBE51DE00
MARGIN = 5


@cache
def ffi() -> FFI:
    """Return the headers' declarations."""
    declarations = FFI()
    for name in HEADERS:
        declarations.cdef(re.sub(r"^#.*$", "", (CHECKOUT / name).read_text(), flags=re.MULTILINE))
    return declarations


@cache
def library() -> Any:
    """Load the compiled code, which aborts on undefined behaviour of C."""
    program = Program(
        "drawing.so",
        ("guest/commands.c", "guest/ppm.c", *card_programs.RASTER),
        flags=("-shared", "-fPIC", "-fsanitize=undefined", "-fno-sanitize-recover=all"),
        generated=(card_programs.registers(),),
    )
    return ffi().dlopen(str(compiled(program)))


class Canvas:
    """A picture surrounded by a margin in which nothing may be drawn."""

    def __init__(self, width: int, height: int) -> None:
        """Make a black picture."""
        self._all = np.full((height + 2 * MARGIN, width + 2 * MARGIN), BESIDE, np.uint32)
        self.pixels: Pixels = self._all[MARGIN : MARGIN + height, MARGIN : MARGIN + width]
        self.pixels[:] = 0
        self._kept = ffi().from_buffer("uint32_t[]", self.pixels.base, require_writable=True)
        first = self._kept + MARGIN * self._all.shape[1] + MARGIN
        self.picture = ffi().new(
            "struct picture *",
            {"pixel": first, "width": width, "height": height, "stride": self._all.strides[0]},
        )

    def clear(self, color: int) -> int:
        """Return the number of pixels drawn, like all methods below."""
        return int(library().raster_clear(self.picture, color))

    def rectangle(self, x: int, y: int, width: int, height: int, color: int) -> int:
        """Draw a rectangle."""
        at = ffi().new("struct corner *", (x, y, color))
        return int(library().raster_rectangle(self.picture, at, width, height))

    def line(self, one: Corner, other: Corner) -> int:
        """Draw a line."""
        return int(library().raster_line(self.picture, _corners((one, other))))

    def triangle(self, corners: Sequence[Corner]) -> int:
        """Draw a triangle."""
        return int(library().raster_triangle(self.picture, _corners(corners)))

    def is_clean_beside(self) -> bool:
        """Return whether the margin is untouched."""
        beside = self._all.copy()
        beside[MARGIN:-MARGIN, MARGIN:-MARGIN] = BESIDE
        return bool((beside == BESIDE).all())


def _corners(corners: Sequence[Corner]) -> Any:
    return ffi().new("struct corner[]", list(corners))
