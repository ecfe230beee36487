# SPDX-License-Identifier: MIT
"""guest/ppm.c writes PPM files that other programs read."""

import errno
from pathlib import Path

import numpy as np
import pytest
from drawing import Canvas, ffi, library
from PIL import Image


@pytest.mark.parametrize(("width", "height"), [(1, 1), (1, 700), (640, 480)])
def test_what_is_written_is_what_is_read(width: int, height: int, tmp_path: Path) -> None:
    canvas, file = Canvas(width, height), tmp_path / "picture.ppm"
    canvas.pixels[:] = np.random.default_rng(width).integers(0, 2**32, (height, width))
    with file.open("wb") as opened:
        assert library().ppm_write(opened, canvas.picture) == 0
    channels = np.stack([canvas.pixels >> shift & 255 for shift in (16, 8, 0)], axis=-1)
    with Image.open(file) as image:
        assert image.mode == "RGB"
        assert (np.asarray(image) == channels).all()


@pytest.mark.parametrize(("width", "height"), [(0, 5), (5, 0)])
def test_a_picture_without_pixels_is_refused(width: int, height: int, tmp_path: Path) -> None:
    with (tmp_path / "picture.ppm").open("wb") as opened:
        assert library().ppm_write(opened, Canvas(width, height).picture) == -1
    assert ffi().errno == errno.EINVAL
    assert (tmp_path / "picture.ppm").read_bytes() == b""


def test_a_full_disk_is_told() -> None:
    with Path("/dev/full").open("wb", buffering=0) as opened:
        assert library().ppm_write(opened, Canvas(64, 64).picture) == -1
    assert ffi().errno == errno.ENOSPC
