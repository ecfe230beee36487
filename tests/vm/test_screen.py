# SPDX-License-Identifier: MIT
"""The guest's own display: what QEMU shows of it is what the card was told to show, and the
console before and afterwards."""

import contextlib
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from guests import PRELUDE, assert_clean, boot, group, text
from numpy.typing import NDArray
from PIL import Image

from understudy.base.paths import cards_dir
from understudy.base.programs import compiled
from understudy.cards import specification
from understudy.platforms.vm import card_programs, machine, modules, packages, qemu

pytestmark = group("screen")

CARD = specification.load("zach1")
MODULES = {"card_zach1": "", "bochs": ""}
WIDTH, HEIGHT = 640, 480

# Nothing may blink on the console.
SCENARIO = """
exists() {
	[ -e $1 ] || [ -n "$(ls /out/$1 2> /dev/null)" ]
}
draw() {
	draw_triangles --size $1 --triangles 400 --card /dev/zach1_0 --hold 1000 > /dev/null &
	program=$!
	wait_for "exists frame-00000$2.png"
	sleep 1
	port rest
}
insmod /zach1_driver.ko || fail 'no driver'
printf '\\033[2J\\033[?25lthe console\\n' > /dev/tty0
port rest
vcd --card /dev/vgpu0 --screen /dev/fb0 --png /out &
daemon=$!
draw 60 1
kill $program
wait $program
sleep 1
port rest
draw 100 2
kill -9 $daemon
kill $program
sleep 1
vcd --card /dev/vgpu0 --screen /dev/fb0 &
daemon=$!
sleep 1
port rest
put 0 /sys/kernel/vpcib/remove
wait $daemon || fail "the daemon ended with $?"
true
"""
SHOWN = ("before", "first", "between", "second", "restarted")

Pixels = NDArray[np.uint8]


class Seen(NamedTuple):
    """What the display showed each time, and the pictures that the daemon wrote."""

    shown: dict[str, Pixels]
    frames: list[Pixels]


def pixels(file: Path) -> Pixels:
    """Rows of red, green, blue."""
    with Image.open(file) as image:
        return np.asarray(image.convert("RGB"))


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """A run that rests whenever there is something to see."""
    folder = tmp_path_factory.mktemp("screen")
    driver = cards_dir() / "drivers" / "zach1_driver.c"
    vm = machine.Vm(
        PRELUDE + SCENARIO,
        MODULES,
        {
            "zach1_driver.ko": modules.driver_module(packages.fetch_kernel(), driver, CARD),
            "bin/vcd": compiled(card_programs.vcd()),
            "bin/draw_triangles": compiled(card_programs.draw_triangles()),
        },
        qemu.Machine(devices=qemu.DISPLAY),
    )
    shown = {}
    with machine.talk(vm) as conversation:
        for name in SHOWN:
            conversation.wait()
            conversation.screendump(folder / name)
            shown[name] = pixels(folder / name)
            conversation.go_on()
    assert_clean(conversation.out)
    frames = [name for name in sorted(conversation.out) if name.endswith(".png")]
    for name in frames:
        (folder / name).write_bytes(conversation.out[name])
    return Seen(shown, [pixels(folder / name) for name in frames])


def test_the_picture_is_in_the_middle(seen: Seen) -> None:
    """Pixel by pixel, and nothing around it."""
    assert len(seen.frames) == 2
    for name, frame in zip(("first", "second"), seen.frames, strict=True):
        assert frame.shape == (HEIGHT, WIDTH, 3)
        assert len(np.unique(frame.reshape(-1, 3), axis=0)) > 1000
        shown = seen.shown[name].copy()
        top, left = (shown.shape[0] - HEIGHT) // 2, (shown.shape[1] - WIDTH) // 2
        assert top > 0
        assert left > 0
        inside = shown[top : top + HEIGHT, left : left + WIDTH]
        assert np.array_equal(inside, frame)
        inside[:] = 0
        assert not shown.any()


@pytest.mark.parametrize("when", ["between", "restarted"])
def test_the_console_comes_back(seen: Seen, when: str) -> None:
    """As it was, when the program ends, and when a daemon begins after another was killed."""
    assert seen.shown["before"].any()
    assert np.array_equal(seen.shown[when], seen.shown["before"])


WRONG = """
vcd --card /dev/vgpu0 --screen /dev/fb1 2> /out/none && fail 'no display, and no complaint'
vcd --card /dev/vgpu0 --screen /dev/zero 2> /out/zero && fail 'zeros, and no complaint'
[ $? = 1 ] || fail 'another exit code'
true
"""


def test_what_is_no_display() -> None:
    """One line, with the reason."""
    files = {"bin/vcd": compiled(card_programs.vcd())}
    said = boot(WRONG, {"card_zach1": ""}, files=files)
    assert text(said, "none") == "/dev/fb1: No such file or directory (errno 2)"
    assert text(said, "zero").startswith("/dev/zero: ")


def test_the_demo_is_seen_over_vnc(tmp_path: Path) -> None:
    """QEMU answers there as long as the demo goes on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ["card", "demo", "zach1", "--out", str(tmp_path / "demo"), "--vnc", str(port - 5900)]
    running = subprocess.Popen([sys.executable, "-m", "understudy", *words])
    greeting = b""
    while running.poll() is None and not greeting:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)) as line:
            greeting = line.recv(12)
        time.sleep(0.1)
    assert greeting.startswith(b"RFB 003.")
    assert running.wait() == 0
    assert len(list((tmp_path / "demo").glob("frame-*.png"))) == 3
