# SPDX-License-Identifier: MIT
"""guest/commands.c obeys cards/zach1.yaml and docs/drawing.md, even with hostile commands.

Register offsets come from the specification, and expected pictures from raster_reference.py.
"""

import random
from typing import Any

import numpy as np
import pytest
import raster_reference as reference
from drawing import ffi, library
from ruamel.yaml import YAML

from understudy_devices.base.paths import cards_dir

with (cards_dir() / "zach1.yaml").open() as opened:
    REGISTERS = YAML(typ="safe", pure=True).load(opened)["registers"]
AT = {register["name"]: register["offset"] for register in REGISTERS}
ERRORS = {
    entry["name"]: entry["value"]
    for register in REGISTERS
    if register["name"] == "ERROR"
    for entry in register["fields"][0]["values"]
}
COMMANDS = {
    name: at
    for name, at in AT.items()
    if name == "FENCE" or AT["FRAME_BASE"] <= at <= AT["FLIP"] or at >= AT["CLEAR_COLOR"]
}
DOORBELLS = ("CLEAR", "DRAW_TRIANGLE", "DRAW_LINE", "DRAW_RECTANGLE")
ALL, PAUSED, FLIP, FENCE, FAILED = range(5)
WIDTH, HEIGHT, BYTES = 40, 30, 4 * 4096
PIXELS_A_CALL = 1 << 22


class Card:
    """The drawing half of a card, after a reset."""

    def __init__(self, width: int = WIDTH, height: int = HEIGHT, size: int = BYTES) -> None:
        """Allocate a black framebuffer of `size` bytes."""
        self.framebuffer = np.zeros(size // 4, np.uint32)
        self._kept = ffi().from_buffer("uint32_t[]", self.framebuffer, require_writable=True)
        self.state = ffi().new("struct commands *")
        self.state.framebuffer = self._kept
        self.state.framebuffer_bytes = size
        self.state.width, self.state.height = width, height
        library().commands_reset(self.state)

    def take(self, *pairs: tuple[str | int, int]) -> tuple[int, int]:
        """Send commands; return how many the card took, and why it stopped."""
        words = [word for name, value in pairs for word in (COMMANDS.get(str(name), name), value)]
        end = ffi().new("enum commands_end *")
        buffer = ffi().new("uint32_t[]", words)
        return int(library().commands_take(self.state, buffer, len(pairs), end)), int(end[0])

    def shown(self) -> tuple[int, int, int, int]:
        """Return the shown picture's offset in the framebuffer in bytes, its width, height and
        stride.
        """
        picture = self.state.shown
        first = 4 * (picture.pixel - self._kept)
        return first, picture.width, picture.height, picture.stride


def signed(half: int) -> int:
    """Interpret 16 bits as a number in two's complement."""
    return half - 0x10000 if half & 0x8000 else half


class Reference:
    """A reference for the drawing half, written from the specification."""

    def __init__(self) -> None:
        """Set the registers as after a reset."""
        self.framebuffer = np.zeros(BYTES // 4, np.uint32)
        self.register = dict.fromkeys(COMMANDS, 0) | {"STRIDE": 2560}
        self.drawn = 0

    def picture(self, base: str) -> Any:
        """Return the pixels of the picture at register `base`, or None if the picture
        does not fit.
        """
        first, stride = self.register[base], self.register["STRIDE"] & 0xFFFF
        end = first + (HEIGHT - 1) * stride + 4 * WIDTH
        if first % 4096 or stride % 4 or stride < 4 * WIDTH or end > BYTES:
            return None
        rows = [self.framebuffer[(first + y * stride) // 4 :][:WIDTH] for y in range(HEIGHT)]
        return np.lib.stride_tricks.as_strided(rows[0], (HEIGHT, WIDTH), (stride, 4))

    def corner(self, i: int) -> reference.Corner:
        """Return corner 0, 1 or 2."""
        vertex = self.register[f"VERTEX{i}"]
        return signed(vertex & 0xFFFF), signed(vertex >> 16), self.register[f"COLOR{i}"]

    def execute(self, name: str, value: int) -> int:
        """Execute one command and return how it ends."""
        self.register[name] = value
        if name == "FLIP":
            return FAILED if self.picture("FRAME_BASE") is None else FLIP
        if name == "FENCE":
            return FENCE
        return self.draw(name) if name in DOORBELLS else ALL

    def draw(self, doorbell: str) -> int:
        """Draw what a doorbell asks for, and return how the command ends."""
        picture = self.picture("DRAW_BASE")
        if picture is None:
            return FAILED
        if doorbell == "CLEAR":
            picture[:] = self.register["CLEAR_COLOR"] & 0xFFFFFF
            return ALL
        self.drawn += 1
        if doorbell == "DRAW_TRIANGLE":
            reference.triangle(picture, [self.corner(i) for i in range(3)])
        elif doorbell == "DRAW_LINE":
            reference.line(picture, self.corner(0), self.corner(1))
        else:
            at, size = self.register["RECTANGLE_AT"], self.register["RECTANGLE_SIZE"]
            x, y = signed(at & 0xFFFF), signed(at >> 16)
            color = self.register["COLOR0"]
            reference.rectangle(picture, x, y, size & 0xFFF, size >> 16 & 0xFFF, color)
        return ALL


def place(draw: random.Random) -> int:
    """Return a random vertex near the picture."""
    return draw.randint(-60, 60) & 0xFFFF | (draw.randint(-60, 60) & 0xFFFF) << 16


def value(draw: random.Random, name: str) -> int:
    """Return a random value that is mostly valid for the register."""
    if name in ("DRAW_BASE", "FRAME_BASE"):
        return draw.choice([0, 4096, 4096, 8192] * 5 + [12288, 4, 4100, 2**32 - 4096])
    if name == "STRIDE":
        stride = draw.choice([160, 164, 240, 160, 256] * 9 + [156, 162, 4096, 0, 65532])
        return stride | draw.getrandbits(16) << 16
    if name.startswith("VERTEX") or name == "RECTANGLE_AT":
        return place(draw)
    if name == "RECTANGLE_SIZE":
        return draw.randrange(50) | draw.randrange(50) << 16 | draw.choice((0, 0xF000F000))
    return draw.getrandbits(32)


@pytest.mark.parametrize("seed", range(60))
def test_streams_do_what_they_say(seed: int) -> None:
    draw = random.Random(seed)
    card, expected = Card(), Reference()
    ends: list[int] = []
    card.take(("STRIDE", 160))
    expected.register["STRIDE"] = 160
    names = [*COMMANDS, *DOORBELLS, *DOORBELLS]
    while FAILED not in ends and len(ends) < 300:
        name = draw.choice(names)
        new = value(draw, name)
        end = expected.execute(name, new)
        assert card.take((name, new)) == (int(end != FAILED), end)
        ends.append(end)
        if end == FLIP:
            stride = expected.register["STRIDE"] & 0xFFFF
            assert card.shown() == (expected.register["FRAME_BASE"], WIDTH, HEIGHT, stride)
        if end == FENCE:
            assert card.state.fence_passed == new
    assert (card.framebuffer == expected.framebuffer).all()
    assert card.state.drawn == expected.drawn
    assert card.state.error == (ERRORS["TARGET"] if FAILED in ends else ERRORS["NONE"])


def test_pairs_in_one_call_are_pairs_one_by_one() -> None:
    draw = random.Random("at once")
    names = [name for name in COMMANDS if name not in ("FLIP", "FENCE", "DRAW_BASE", "STRIDE")]
    pairs = [(name, value(draw, name)) for name in draw.choices(names, k=500)]
    one, other = Card(), Card()
    for card in (one, other):
        card.take(("STRIDE", 160))
    assert one.take(*pairs) == (500, ALL)
    for pair in pairs:
        assert other.take(pair) == (1, ALL)
    assert (one.framebuffer == other.framebuffer).all()
    assert one.framebuffer.any()


def test_registers_that_take_no_commands_are_refused() -> None:
    offsets = [*range(0x200), *(at + 2**i for at in COMMANDS.values() for i in range(9, 32))]
    for offset in set(offsets) - set(COMMANDS.values()):
        card = Card()
        assert card.take(("CLEAR_COLOR", 1), (offset, 0), ("FENCE", 9)) == (1, FAILED)
        assert card.state.error == ERRORS["COMMAND"]
        assert card.state.fence_passed == 0


def test_flips_and_fences_end_a_call() -> None:
    card = Card()
    assert card.take() == (0, ALL)
    assert card.take(("STRIDE", 160), ("FLIP", 7), ("FENCE", 5)) == (2, FLIP)
    assert card.take(("FENCE", 5), ("FENCE", 6)) == (1, FENCE)
    assert card.state.fence_passed == 5
    assert card.take(("FENCE", 6), ("FLIP", 0)) == (1, FENCE)
    assert card.take(("FLIP", 0)) == (1, FLIP)


@pytest.mark.parametrize("doorbell", [*DOORBELLS, "FLIP"])
@pytest.mark.parametrize(
    ("base", "stride", "width", "height", "fits"),
    [
        (0, 160, 40, 102, True),
        (0, 160, 40, 103, False),
        (4096, 160, 40, 76, True),
        (4096, 160, 40, 77, False),
        (12288, 4096, 1024, 1, True),
        (12288, 4096, 1025, 1, False),
        (16384, 160, 1, 1, False),
        (0xFFFFF000, 160, 1, 1, False),
        (2048, 160, 40, 1, False),
        (0, 164, 40, 3, True),
        (0, 162, 40, 3, False),
        (0, 156, 40, 3, False),
        (0, 160, 0, 3, False),
        (0, 160, 40, 0, False),
        (0, 0, 0, 0, False),
        (0, 65532, 4095, 4095, False),
    ],
)
def test_a_picture_has_to_fit(
    doorbell: str, base: int, stride: int, width: int, height: int, fits: bool
) -> None:
    card = Card(width, height)
    drawing = (("DRAW_BASE", base), ("FRAME_BASE", base), ("STRIDE", stride), ("CLEAR_COLOR", 1))
    assert card.take(*drawing) == (4, ALL)
    count, end = card.take((doorbell, 0))
    assert (count, end != FAILED) == (int(fits), fits)
    assert card.state.error == ERRORS["NONE" if fits else "TARGET"]
    assert card.framebuffer.sum() == (width * height if doorbell == "CLEAR" and fits else 0)


def test_the_other_base_does_not_matter() -> None:
    card = Card()
    assert card.take(("STRIDE", 160), ("FRAME_BASE", 1), ("CLEAR", 0)) == (3, ALL)
    assert card.take(("FRAME_BASE", 4096), ("DRAW_BASE", 1), ("FLIP", 0)) == (3, FLIP)
    assert card.shown()[0] == 4096


def test_only_a_reset_starts_a_failed_card_again() -> None:
    card = Card(640, 1)
    assert card.take(("CLEAR_COLOR", 5), ("VERTEX0", 1), ("STRIDE", 4), ("CLEAR", 0)) == (3, FAILED)
    assert card.take(("STRIDE", 2560), ("CLEAR", 0)) == (0, FAILED)
    card.framebuffer[:] = 9
    library().commands_reset(card.state)
    assert card.take(("DRAW_LINE", 0)) == (1, ALL)
    assert card.framebuffer[0] == 0
    assert card.take(("CLEAR", 0)) == (1, ALL)
    assert not card.framebuffer[:640].any()
    assert card.framebuffer[640:].all()
    assert card.state.error == ERRORS["NONE"]


@pytest.mark.parametrize(
    ("doorbell", "width", "height", "cost"),
    [
        ("CLEAR", 1000, 1000, 1_001_000),
        ("DRAW_RECTANGLE", 1000, 1000, 1_000),
        ("DRAW_TRIANGLE", 1, 4000, 4000),
    ],
)
def test_a_call_pauses_once_it_has_drawn_enough(
    doorbell: str, width: int, height: int, cost: int
) -> None:
    """A shape that draws no pixel still costs one pixel for each row of the picture."""
    card = Card(width, height, 16 * 2**20)
    card.take(("STRIDE", 4000))
    calls = -(-PIXELS_A_CALL // cost)
    pairs = [(doorbell, 0)] * (calls + 5)
    assert card.take(*pairs) == (calls, PAUSED)
    assert card.take(*pairs[calls:]) == (5, PAUSED if 5 * cost >= PIXELS_A_CALL else ALL)
    assert card.state.drawn == (0 if doorbell == "CLEAR" else calls + 5)
