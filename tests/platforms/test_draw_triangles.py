# SPDX-License-Identifier: MIT
"""guest/draw_triangles: the same picture with and without --by-commands, and wrong options."""

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from understudy_devices.base.programs import compiled
from understudy_devices.platforms.vm.card_programs import draw_triangles

DONE = re.compile(r"done (\d+\.\d{6}) ([0-9a-f]{16})\n")


def run(*words: object) -> "subprocess.CompletedProcess[str]":
    """Run the program with these options."""
    command = [str(compiled(draw_triangles())), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def checksum(*words: object) -> str:
    """Return the checksum that the program prints."""
    done = run(*words)
    assert (done.returncode, done.stderr) == (0, "")
    match = DONE.fullmatch(done.stdout)
    assert match, done.stdout
    return match[2]


def pixels(file: Path) -> npt.NDArray[Any]:
    """Return a PPM file's pixels as 0x00RRGGBB."""
    with Image.open(file) as image:
        channels = np.asarray(image).astype(np.uint32)
    return channels[..., 0] << 16 | channels[..., 1] << 8 | channels[..., 2]


@pytest.mark.parametrize("size", [1, 20, 100, 480])
def test_the_picture_is_the_same_by_commands(size: int, tmp_path: Path) -> None:
    """There are more triangles than a buffer of commands holds."""
    one = ("--size", size, "--triangles", 5000, "--ppm", tmp_path / "one.ppm")
    other = ("--size", size, "--triangles", 5000, "--ppm", tmp_path / "other.ppm")
    assert checksum(*one) == checksum(*other, "--by-commands")
    assert (tmp_path / "one.ppm").read_bytes() == (tmp_path / "other.ppm").read_bytes()


def test_the_checksum_is_that_of_the_picture(tmp_path: Path) -> None:
    printed = checksum("--size", 50, "--triangles", 200, "--ppm", tmp_path / "picture.ppm")
    value = 0xCBF29CE484222325
    for word in pixels(tmp_path / "picture.ppm").ravel().tolist():
        value = (value ^ word) * 0x100000001B3 % 2**64
    assert printed == f"{value:016x}"


@pytest.mark.parametrize("size", [1, 20, 100, 480])
def test_a_triangle_has_the_size(size: int, tmp_path: Path) -> None:
    """A triangle is as high as wide, and covers half of that square, whatever the seed."""
    for seed in range(20):
        file = tmp_path / f"{seed}.ppm"
        checksum("--size", size, "--triangles", 1, "--seed", seed, "--ppm", file)
        ys, xs = np.nonzero(pixels(file))
        assert abs(len(xs) - size**2 / 2) <= size
        if size > 1:
            assert size - 3 <= np.ptp(ys) < size
            assert size - 3 <= np.ptp(xs) < size


def test_the_seed_decides() -> None:
    words = ("--size", 30, "--triangles", 100)
    assert checksum(*words) == checksum(*words, "--seed", 1)
    assert len({checksum(*words, "--seed", seed) for seed in range(10)}) == 10


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "draw_triangles --size PIXELS"),
        (("--triangles", 5), "draw_triangles --size PIXELS"),
        (("--size", 20, "more"), "draw_triangles --size PIXELS"),
        (("--size", 20, "--colour"), "--colour"),
        (("--size", 0), '--size: "0" is not a whole number from 1 to 480'),
        (("--size", 481), '--size: "481" is not a whole number from 1 to 480'),
        (("--size", "20px"), '--size: "20px"'),
        (("--size", 20, "--triangles", 0), '--triangles: "0" is not a whole number from 1 to'),
        (("--size", 20, "--seed", -1), '--seed: "-1" is not a whole number'),
    ],
)
def test_wrong_options_are_refused(words: tuple[object, ...], message: str) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    for file, reason in (
        (tmp_path / "none" / "p.ppm", "No such file or directory (errno 2)"),
        (Path("/dev/full"), "No space left on device (errno 28)"),
    ):
        done = run("--size", 20, "--triangles", 1, "--ppm", file)
        assert (done.returncode, done.stderr) == (1, f"{file}: {reason}\n")


def test_it_needs_no_libraries() -> None:
    headers = subprocess.run(
        ["readelf", "--program-headers", compiled(draw_triangles())],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "LOAD" in headers.stdout
    assert "INTERP" not in headers.stdout
