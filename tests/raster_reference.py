# SPDX-License-Identifier: MIT
"""A rasteriser by definition, from docs/drawing.md, which tries each point of the picture.

Pictures are arrays of 0x00RRGGBB, indexed by row and column. A corner is (x, y, color). A pixel is
in a triangle if it is on the inner side of all three edges. Quotients are fractions, so they are
rounded only where docs/drawing.md says so.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Corner = tuple[int, int, int]
Pixels = npt.NDArray[np.uint32]
Points = npt.NDArray[np.bool_]

ONE = 2**24
HALF = Fraction(1, 2)


def channels(color: int) -> tuple[int, int, int]:
    """Return red, green and blue."""
    return color >> 16 & 255, color >> 8 & 255, color & 255


def rectangle(picture: Pixels, x: int, y: int, width: int, height: int, color: int) -> None:
    """Set the pixels of a rectangle whose upper left corner is (x, y)."""
    rows, columns = np.indices(picture.shape)
    inside = (columns >= x) & (columns < x + width) & (rows >= y) & (rows < y + height)
    picture[inside] = color & 0xFFFFFF


def line(picture: Pixels, one: Corner, other: Corner) -> None:
    """Set the pixels of a line, both ends included."""
    height, width = picture.shape
    n = max(abs(other[0] - one[0]), abs(other[1] - one[1]))
    for i in range(n + 1):
        part = Fraction(i, n or 1)
        x, y = (between(one[axis], other[axis], part) for axis in (0, 1))
        if 0 <= x < width and 0 <= y < height:
            ends = zip(channels(one[2]), channels(other[2]), strict=True)
            picture[y, x] = packed([between(start, end, part) for start, end in ends])


def between(start: int, end: int, part: Fraction) -> int:
    """Interpolate between start and end; round to the nearest integer, and a half down."""
    return math.ceil(start + (end - start) * part - HALF)


def packed(color: Sequence[int]) -> int:
    """Return the word of a pixel."""
    red, green, blue = color
    return red << 16 | green << 8 | blue


def inside(corners: Sequence[Corner], shape: tuple[int, int]) -> Points:
    """Return which points are in the triangle, or on one of its left or upper edges."""
    rows, columns = np.indices(shape, dtype=np.int64)
    result = np.full(shape, bool(twice_area(*corners)))
    if twice_area(*corners) < 0:
        corners = corners[::-1]
    for i, (x, y, _) in enumerate(corners):
        next_x, next_y, _ = corners[(i + 1) % 3]
        # The corners are clockwise on the screen (y grows downwards), so the inner side is on the
        # right of each edge.
        side = (next_x - x) * (rows - y) - (next_y - y) * (columns - x)
        left = next_y < y
        upper = next_y == y and next_x > x
        result &= (side >= 0) if left or upper else (side > 0)
    return result


def twice_area(one: Corner, two: Corner, three: Corner) -> int:
    """Return twice the area, positive if the corners are clockwise on the screen (y grows
    downwards).
    """
    across = (two[0] - one[0], two[1] - one[1])
    along = (three[0] - one[0], three[1] - one[1])
    return across[0] * along[1] - across[1] * along[0]


def plane(corners: Sequence[Corner], which: int) -> tuple[int, Fraction, Fraction]:
    """Return a channel's value at the first corner, and its growth per pixel to the
    right and down.
    """
    a, b, c = sorted(corners, key=lambda corner: (corner[1], corner[0]))
    v_a, v_b, v_c = (channels(corner[2])[which] for corner in (a, b, c))
    area = twice_area(a, b, c)
    right = Fraction((v_b - v_a) * (c[1] - a[1]) - (v_c - v_a) * (b[1] - a[1]), area)
    down = Fraction((v_c - v_a) * (b[0] - a[0]) - (v_b - v_a) * (c[0] - a[0]), area)
    return v_a, right, down


def triangle(picture: Pixels, corners: Sequence[Corner]) -> None:
    """Set the pixels of a triangle to their interpolated colours."""
    points = inside(corners, picture.shape)
    if not points.any():
        return
    x_a, y_a = min((y, x) for x, y, _ in corners)[::-1]
    rows, columns = (indices.astype(object) for indices in np.nonzero(points))
    color: Any = 0
    for which in range(3):
        v_a, right, down = plane(corners, which)
        g, d = math.floor(ONE * right), math.floor(ONE * down)
        value = (ONE * v_a + ONE // 2 + g * (columns - x_a) + d * (rows - y_a)) // ONE
        color = color * 256 + value
    picture[points] = color.astype(np.uint32)
