# SPDX-License-Identifier: MIT
"""guest/raster.c and guest/triangle.c draw what docs/drawing.md says, to the pixel."""

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
import raster_reference as reference
from drawing import Canvas
from raster_reference import Corner

pytestmark = pytest.mark.thorough

WIDTH, HEIGHT = 64, 48
FAR = 32767
EXTREMES = (-FAR - 1, -FAR, -1, 0, 1, HEIGHT - 1, HEIGHT, WIDTH - 1, WIDTH, FAR - 1, FAR)
BLACK = np.zeros((HEIGHT, WIDTH), np.uint32)


def near(draw: random.Random) -> tuple[int, int]:
    """Return a point in the picture."""
    return draw.randrange(WIDTH), draw.randrange(HEIGHT)


def around(draw: random.Random) -> tuple[int, int]:
    """Return a point in or around the picture."""
    return draw.randint(-WIDTH, 2 * WIDTH), draw.randint(-HEIGHT, 2 * HEIGHT)


def anywhere(draw: random.Random) -> tuple[int, int]:
    """Return any point that 16-bit coordinates can express."""
    return draw.randint(-FAR - 1, FAR), draw.randint(-FAR - 1, FAR)


def extreme(draw: random.Random) -> tuple[int, int]:
    """Return a point at which off-by-one errors show."""
    return draw.choice(EXTREMES), draw.choice(EXTREMES)


def crowded(draw: random.Random) -> tuple[int, int]:
    """Return one of few points, so that corners often coincide or are collinear."""
    return draw.randrange(10, 14), draw.randrange(10, 14)


KINDS = (near, around, anywhere, extreme, crowded)


def color(draw: random.Random) -> int:
    """Return a random color, half of the time with extreme channels and a top byte."""
    if draw.random() < 0.5:
        return draw.getrandbits(32)
    return draw.getrandbits(8) << 24 | sum(draw.choice((0, 255)) << 8 * i for i in range(3))


def corners(draw: random.Random, kind: Callable[[random.Random], tuple[int, int]]) -> list[Corner]:
    """Return three corners of one kind, or two of one kind and a third of any kind."""
    kinds = [kind, kind, draw.choice((kind, draw.choice(KINDS)))]
    draw.shuffle(kinds)
    return [(*each(draw), color(draw)) for each in kinds]


def slivers(draw: random.Random) -> Iterator[list[Corner]]:
    """Yield long triangles, as thin as possible: one corner is just beside the opposite edge."""
    for _ in range(1000):
        middle, one = near(draw), draw.choice((anywhere, around))(draw)
        x, y = (min(max(2 * m - p, -FAR - 1), FAR) for m, p in zip(middle, one, strict=True))
        i, j = (place + draw.randint(-1, 1) for place in middle)
        yield [(*one, color(draw)), (x, y, color(draw)), (i, j, color(draw))]


def check_triangle(triangle: Sequence[Corner]) -> int:
    """Compare a triangle with its definition; return how many pixels it has."""
    canvas, picture = Canvas(WIDTH, HEIGHT), BLACK.copy()
    count = canvas.triangle(triangle)
    reference.triangle(picture, triangle)
    points = reference.inside(triangle, picture.shape)
    assert (canvas.pixels == picture).all(), triangle
    assert count == points.sum(), triangle
    assert canvas.is_clean_beside(), triangle
    for which in range(3):
        ends = [reference.channels(corner[2])[which] for corner in triangle]
        values = canvas.pixels[points] >> np.uint32(16 - 8 * which) & np.uint32(255)
        assert ((values >= min(ends)) & (values <= max(ends))).all(), triangle
    return count


@pytest.mark.parametrize("kind", KINDS)
def test_triangles_are_those_by_definition(
    kind: Callable[[random.Random], tuple[int, int]],
) -> None:
    draw = random.Random(f"triangles {kind.__name__}")
    counts = [check_triangle(corners(draw, kind)) for _ in range(2000)]
    assert sum(pixels > 0 for pixels in counts) > 300


def test_slivers_are_those_by_definition() -> None:
    counts = [check_triangle(sliver) for sliver in slivers(random.Random("slivers"))]
    assert sum(pixels > 0 for pixels in counts) > 300


def test_colours_are_off_by_little_more_than_half_a_step() -> None:
    """Compare with the exact plane; the reference rounds the plane as docs/drawing.md says."""
    draw = random.Random("plane")
    limit = reference.HALF + Fraction(1, 128)
    for _ in range(300):
        triangle = corners(draw, draw.choice(KINDS))
        canvas = Canvas(WIDTH, HEIGHT)
        canvas.triangle(triangle)
        rows, columns = np.nonzero(reference.inside(triangle, (HEIGHT, WIDTH)))
        if not len(rows):
            continue
        x_a, y_a = min((y, x) for x, y, _ in triangle)[::-1]
        planes = [reference.plane(triangle, which) for which in range(3)]
        for i in {0, len(rows) - 1, draw.randrange(len(rows))}:
            x, y = int(columns[i]), int(rows[i])
            channels = reference.channels(int(canvas.pixels[y, x]))
            for value, (v_a, right, down) in zip(channels, planes, strict=True):
                exact = v_a + right * (x - x_a) + down * (y - y_a)
                assert abs(value - exact) <= limit, (triangle, x, y)


def test_the_order_of_corners_changes_nothing() -> None:
    draw = random.Random("order")
    for _ in range(300):
        triangle = corners(draw, draw.choice((near, around)))
        canvas = Canvas(WIDTH, HEIGHT)
        canvas.triangle(triangle)
        for other in permutations(triangle):
            again = Canvas(WIDTH, HEIGHT)
            again.triangle(other)
            assert (again.pixels == canvas.pixels).all(), triangle


def test_what_has_no_area_draws_nothing() -> None:
    for a, b, c in (
        ((5, 5), (5, 5), (5, 5)),
        ((1, 1), (9, 9), (5, 5)),
        ((0, 7), (60, 7), (30, 7)),
        ((7, 0), (7, 40), (7, 20)),
        ((-FAR - 1, -FAR - 1), (FAR, FAR), (3, 3)),
    ):
        assert check_triangle([(*a, 0xFFFFFF), (*b, 0xFFFFFF), (*c, 0xFFFFFF)]) == 0


def test_the_page_s_own_example() -> None:
    assert check_triangle([(0, 0, 255), (4, 0, 255), (0, 4, 255)]) == 4 + 3 + 2 + 1


@pytest.mark.parametrize("far", [False, True], ids=["near", "far"])
def test_a_mesh_covers_each_pixel_once(far: bool) -> None:
    draw = random.Random(f"mesh {far}")
    for _ in range(40):
        times = np.zeros_like(BLACK)
        for triangle in mesh(draw, far):
            canvas = Canvas(WIDTH, HEIGHT)
            canvas.clear(0)
            canvas.triangle([(x, y, 0xFFFFFF) for x, y in triangle])
            times += (canvas.pixels != 0).astype(np.uint32)
        assert (times == 1).all()


def mesh(draw: random.Random, far: bool) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield triangles that fill a rectangle around the picture; the grid's corners are moved a
    little.
    """
    left, top, right, bottom = (-FAR - 1, -FAR - 1, FAR, FAR) if far else (0, 0, WIDTH, HEIGHT)
    xs = [left, *sorted(draw.sample(range(6, WIDTH - 6, 6), 3)), right]
    ys = [top, *sorted(draw.sample(range(6, HEIGHT - 6, 6), 3)), bottom]
    corner = {
        (i, j): (x + moved(draw, x, left, right), y + moved(draw, y, top, bottom))
        for i, x in enumerate(xs)
        for j, y in enumerate(ys)
    }
    for i in range(4):
        for j in range(4):
            a, b = corner[i, j], corner[i + 1, j]
            c, d = corner[i, j + 1], corner[i + 1, j + 1]
            yield from ((a, b, c), (b, c, d)) if draw.random() < 0.5 else ((a, b, d), (a, c, d))


def moved(draw: random.Random, place: int, first: int, last: int) -> int:
    """Return how far an inner corner is moved; a larger distance could flip a triangle."""
    return 0 if place in (first, last) else draw.randint(-1, 1)


def check_line(one: Corner, other: Corner) -> None:
    canvas, picture = Canvas(WIDTH, HEIGHT), BLACK.copy()
    count = canvas.line(one, other)
    reference.line(picture, one, other)
    assert (canvas.pixels == picture).all(), (one, other)
    assert canvas.is_clean_beside(), (one, other)
    if one[:2] != other[:2]:
        back = Canvas(WIDTH, HEIGHT)
        back.line(other, one)
        assert (back.pixels == canvas.pixels).all(), (one, other)
    white = Canvas(WIDTH, HEIGHT)
    assert count == white.line((*one[:2], 0xFFFFFF), (*other[:2], 0xFFFFFF))
    assert count == np.count_nonzero(white.pixels), (one, other)


@pytest.mark.parametrize("kind", [near, around, crowded])
def test_lines_are_those_by_definition(kind: Callable[[random.Random], tuple[int, int]]) -> None:
    draw = random.Random(f"lines {kind.__name__}")
    for _ in range(400):
        check_line((*kind(draw), color(draw)), (*kind(draw), color(draw)))


def test_lines_from_far_away_are_those_by_definition() -> None:
    """The reference tries all 65,536 steps of a line, so there are only a few lines."""
    draw = random.Random("far lines")
    for _ in range(6):
        check_line((*anywhere(draw), color(draw)), (*near(draw), color(draw)))
        check_line((*extreme(draw), color(draw)), (*extreme(draw), color(draw)))
    check_line((-FAR - 1, -FAR - 1, 0), (FAR, FAR, 0xFFFFFF))
    check_line((-FAR - 1, FAR, 0xFF), (FAR, -FAR - 1, 0xFF00))
    check_line((-FAR - 1, -1, 1), (FAR, -1, 2))
    check_line((-FAR - 1, HEIGHT - 1, 1), (FAR, HEIGHT, 2))


def test_rectangles_are_those_by_definition() -> None:
    draw = random.Random("rectangles")
    for _ in range(1000):
        x, y = draw.choice(KINDS)(draw)
        width, height = (draw.choice((0, 1, draw.randrange(100), 4095, 65535)) for _ in range(2))
        fill = color(draw)
        canvas, picture = Canvas(WIDTH, HEIGHT), BLACK.copy()
        count = canvas.rectangle(x, y, width, height, fill)
        reference.rectangle(picture, x, y, width, height, fill)
        assert (canvas.pixels == picture).all(), (x, y, width, height)
        assert canvas.is_clean_beside(), (x, y, width, height)
        picture[:] = 0
        reference.rectangle(picture, x, y, width, height, 1)
        assert count == picture.sum(), (x, y, width, height)


@pytest.mark.parametrize(("width", "height"), [(0, 0), (0, 9), (9, 0), (1, 1), (3, 2), (700, 1)])
def test_pictures_of_any_size(width: int, height: int) -> None:
    canvas = Canvas(width, height)
    assert canvas.clear(0xFF123456) == width * height
    assert (canvas.pixels == 0x123456).all()
    canvas.line((-5, -5, 0), (FAR, 5, 255))
    canvas.triangle([(-9, -9, 0), (FAR, -3, 0), (-9, FAR, 0)])
    canvas.rectangle(-1, -1, 4, 4, 0)
    assert canvas.is_clean_beside()
    assert not canvas.pixels[:3, :3].any()
