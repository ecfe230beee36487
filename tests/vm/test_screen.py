# SPDX-License-Identifier: MIT
"""The guest's own display: QEMU shows what the card was told to draw, and the console before and
afterwards.
"""

import contextlib
import random
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import raster_reference as reference
from guests import PRELUDE, assert_clean, boot, group, once, text
from numpy.typing import NDArray
from PIL import Image

from understudy_devices.base.errors import UserError
from understudy_devices.base.paths import cards_dir
from understudy_devices.base.programs import Program, compiled
from understudy_devices.cards import specification
from understudy_devices.platforms.vm import card_modules, card_programs, machine, packages, qemu
from understudy_devices.referee.demo import demonstrate

pytestmark = group("screen")

CARD = specification.load("zach1")
AT = {register.name: register.offset for register in CARD.registers}
MODULES = {"card_zach1": "", "bochs": ""}
WIDTH, HEIGHT = 640, 480
PRIMITIVES = 60

Bytes = NDArray[np.uint8]


def submit() -> Path:
    """Return a guest program that has the driver execute commands."""
    sources = ("tests/vm/submit.c", "guest/card_sink.c")
    generated = (card_programs.registers(),)
    return compiled(Program("submit", sources, generated=generated))


class Drawing:
    """Random rectangles, lines and triangles, some of them partly outside the picture."""

    def __init__(self, seed: int) -> None:
        """Make the commands, and the picture that the commands should draw."""
        self._draw = random.Random(seed)
        self._pairs: list[int] = []
        self.pixels: reference.Pixels = np.zeros((HEIGHT, WIDTH), np.uint32)
        for _ in range(PRIMITIVES):
            self._draw.choice([self._rectangle, self._line, self._triangle, self._triangle])()

    def commands(self) -> bytes:
        """Return the commands as words of a buffer."""
        return struct.pack(f"<{len(self._pairs)}I", *self._pairs)

    def _do(self, name: str, value: int = 1) -> None:
        self._pairs += AT[name], value

    def _corners(self, n: int) -> list[reference.Corner]:
        draw = self._draw
        corners = [
            (draw.randint(-90, WIDTH + 90), draw.randint(-90, HEIGHT + 90), draw.getrandbits(24))
            for _ in range(n)
        ]
        for i, (x, y, color) in enumerate(corners):
            self._do(f"VERTEX{i}", _point(x, y))
            self._do(f"COLOR{i}", color)
        return corners

    def _rectangle(self) -> None:
        (x, y, color), width, height = self._corners(1)[0], *self._draw.choices(range(200), k=2)
        self._do("RECTANGLE_AT", _point(x, y))
        self._do("RECTANGLE_SIZE", _point(width, height))
        self._do("DRAW_RECTANGLE")
        reference.rectangle(self.pixels, x, y, width, height, color)

    def _line(self) -> None:
        reference.line(self.pixels, *self._corners(2))
        self._do("DRAW_LINE")

    def _triangle(self) -> None:
        reference.triangle(self.pixels, self._corners(3))
        self._do("DRAW_TRIANGLE")


def _point(x: int, y: int) -> int:
    return x & 0xFFFF | (y & 0xFFFF) << 16


drawing = once(Drawing)


def files() -> dict[str, bytes | str | Path]:
    """Return the drawings, and the programs and the driver that draw them."""
    driver = cards_dir() / "drivers" / "zach1_driver.c"
    return {
        "zach1_driver.ko": card_modules.driver(packages.fetch_kernel(), driver, CARD),
        "bin/vcd": compiled(card_programs.vcd()),
        "bin/submit": submit(),
        **{f"drawing{seed}": drawing(seed).commands() for seed in (1, 2, 3)},
    }


BEGIN = """
begin() {
	vcd --card /dev/vgpu0 --screen /dev/fb0 --ppm /out &
	daemon=$!
}
show() {
	: > /said
	submit $2 < /drawing$1 > /said &
	program=$!
	wait_for '[ -s /said ]'
}
look() {
	sleep 1
	port rest
}
hide() {
	kill $program
	wait $program || true
}
insmod /zach1_driver.ko || fail 'no driver'
"""

# The console must not blink.
SCENARIO = (
    BEGIN
    + r"""
printf '\033[2J\033[?25lthe console\n' > /dev/tty0
look before
begin
show 1
look first
hide
look hidden
show 2
look second
kill -9 $daemon
wait $daemon
begin
look again
kill $daemon
wait $daemon || fail "the daemon that was told to stop ended with $?"
look stopped
begin
look resumed
kill -9 $daemon
hide
begin
look restarted
show 3 text
look text
hide
show 3
look third
put 0 /sys/kernel/vpcib/remove
wait $daemon || fail "the daemon whose card was pulled out ended with $?"
look pulled
kill $program
"""
)


class Seen(NamedTuple):
    """The display's content at each look, and the pictures that the daemon wrote."""

    shown: dict[str, Bytes]
    frames: list[Bytes]


def pixels(file: Path) -> Bytes:
    """Return rows of red, green and blue."""
    with Image.open(file) as image:
        return np.asarray(image.convert("RGB"))


def looked(folder: Path, scenario: str, loaded: Mapping[str, str], display: Sequence[str]) -> Seen:
    """Run a scenario that pauses at each "look NAME"; return the display's content by name."""
    vm = machine.Vm(
        PRELUDE + scenario,
        loaded,
        files(),
        qemu.Machine(devices=tuple(display)),
    )
    screens = {}
    with machine.talk(vm) as conversation:
        for name in [line[5:] for line in scenario.splitlines() if line.startswith("look ")]:
            conversation.wait()
            conversation.screendump(folder / name)
            screens[name] = pixels(folder / name)
            conversation.go_on()
    assert_clean(conversation.out)
    frames = [name for name in sorted(conversation.out) if name.endswith(".ppm")]
    for name in frames:
        (folder / name).write_bytes(conversation.out[name])
    return Seen(screens, [pixels(folder / name) for name in frames])


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Show and hide pictures, with daemons that are killed, stopped and started again."""
    return looked(tmp_path_factory.mktemp("screen"), SCENARIO, MODULES, qemu.DISPLAY)


def colors(words: reference.Pixels) -> Bytes:
    """Convert words to rows of red, green and blue."""
    return np.stack([words >> shift & 255 for shift in (16, 8, 0)], axis=-1).astype(np.uint8)


def in_the_middle(picture: Bytes, shape: tuple[int, ...]) -> Bytes:
    """Return the picture on a display of this shape: centred, with black around it or cut off."""
    top, left = ((shape[axis] - picture.shape[axis]) / 2 for axis in (0, 1))
    wide = np.pad(picture, ((shape[0],) * 2, (shape[1],) * 2, (0, 0)))
    y, x = shape[0] - int(np.trunc(top)), shape[1] - int(np.trunc(left))
    return wide[y : y + shape[0], x : x + shape[1]]


def test_the_daemon_writes_what_is_drawn(seen: Seen) -> None:
    """Each flip writes one file, whichever daemon runs, and text mode writes none."""
    assert len(seen.frames) == 3
    for frame, seed in zip(seen.frames, (1, 2, 3), strict=True):
        assert np.array_equal(frame, colors(drawing(seed).pixels))


@pytest.mark.parametrize(
    ("when", "seed"), [("first", 1), ("second", 2), ("again", 2), ("resumed", 2), ("third", 3)]
)
def test_the_picture_is_in_the_middle(seen: Seen, when: str, seed: int) -> None:
    """All pixels agree, and the area around is black, even if another daemon has taken over."""
    screen = seen.shown[when]
    assert screen.shape[0] > HEIGHT
    assert screen.shape[1] > WIDTH
    assert np.array_equal(screen, in_the_middle(colors(drawing(seed).pixels), screen.shape))


@pytest.mark.parametrize("when", ["hidden", "stopped", "restarted", "text", "pulled"])
def test_the_console_comes_back(seen: Seen, when: str) -> None:
    """The console is as before, however the picture was removed."""
    assert seen.shown["before"].any()
    assert np.array_equal(seen.shown[when], seen.shown["before"])


KILLED = """
insmod /zach1_driver.ko || fail 'no driver'
submit < /drawing1 > /said &
program=$!
for i in $(seq 1 60); do
	vcd --card /dev/vgpu0 --ppm /out &
	daemon=$!
	usleep $((5000 + i * 250))
	kill -9 $daemon
	wait $daemon
done
[ -s /said ] && fail 'nobody was killed at the end'
vcd --card /dev/vgpu0 --ppm /out &
wait_for '[ -s /said ]'
kill $program
"""


def test_each_daemon_goes_on_where_the_last_was_killed(tmp_path: Path) -> None:
    """Daemons are killed between a triangle's corners and its doorbell, and while
    writing the file.
    """
    result = boot(KILLED, {"card_zach1": ""}, files=files())
    (tmp_path / "frame").write_bytes(result.out["frame-000001.ppm"])
    assert "frame-000002.ppm" not in result.out
    assert np.array_equal(pixels(tmp_path / "frame"), colors(drawing(1).pixels))


def test_a_small_display_shows_the_middle(tmp_path: Path) -> None:
    scenario = BEGIN + "begin\nshow 1\nlook small\nhide\n"
    display = ("-device", "VGA,xres=320,yres=240")
    screen = looked(tmp_path, scenario, MODULES, display).shown["small"]
    assert screen.shape == (240, 320, 3)
    assert np.array_equal(screen, in_the_middle(colors(drawing(1).pixels), screen.shape))


WRONG = """
for display in fb0 fb1 zero; do
	vcd --card /dev/vgpu0 --screen /dev/$display 2> /out/$display
	[ $? = 1 ] || fail "$display: another exit code"
done
"""


def test_what_is_no_display_for_us() -> None:
    """The error is one line with the reason."""
    few_bits = {"card_zach1": "", "cirrus": ""}
    result = boot(WRONG, few_bits, files=files(), devices=("-device", "cirrus-vga"))
    assert text(result, "fb0") == (
        "/dev/fb0: 16 bits a pixel, not 32 with 8 for each colour: "
        "try QEMU's -device VGA, and the module bochs"
    )
    assert text(result, "fb1") == "/dev/fb1: No such file or directory (errno 2)"
    assert text(result, "zero") == "/dev/zero: not a framebuffer, such as /dev/fb0"


def test_a_vnc_display_that_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        vnc = server.getsockname()[1] - 5900
        with pytest.raises(UserError, match=rf"VNC display {vnc} .*: try another number"):
            demonstrate("zach1", tmp_path, vnc)


def test_the_demo_is_seen_over_vnc(tmp_path: Path) -> None:
    """QEMU answers there while the demo runs."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ["card", "demo", "zach1", "--out", str(tmp_path / "demo"), "--vnc", str(port - 5900)]
    running = subprocess.Popen([sys.executable, "-m", "understudy_devices", *words])
    greeting = b""
    while running.poll() is None and not greeting:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)) as line:
            greeting = line.recv(12)
        time.sleep(0.1)
    assert greeting.startswith(b"RFB 003.")
    assert running.wait() == 0
    assert len(list((tmp_path / "demo").glob("frame-*.png"))) == 3
