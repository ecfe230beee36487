# SPDX-License-Identifier: MIT
"""guest/png.c writes what other readers of PNG read."""

import errno
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from drawing import Canvas, ffi, library
from PIL import Image

RED_GREEN_BLUE = 2


def chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Types and data of a file's chunks, their CRCs checked."""
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    at = 8
    while at < len(content):
        (size,) = struct.unpack_from(">I", content, at)
        body = content[at + 4 : at + 8 + size]
        assert struct.unpack_from(">I", content, at + 8 + size) == (zlib.crc32(body),)
        yield body[:4], body[4:]
        at += 12 + size


@pytest.mark.parametrize(
    ("width", "height"), [(1, 1), (1, 700), (640, 480), (21844, 4), (21845, 1), (21846, 3)]
)
def test_what_is_written_is_what_is_read(width: int, height: int, tmp_path: Path) -> None:
    """Also where rows are just as long as a block of the stream, and longer."""
    canvas, file = Canvas(width, height), tmp_path / "picture.png"
    canvas.pixels[:] = np.random.default_rng(width).integers(0, 2**32, (height, width))
    with file.open("wb") as opened:
        assert library().png_write(opened, canvas.picture) == 0
    channels = np.stack([canvas.pixels >> shift & 255 for shift in (16, 8, 0)], axis=-1)
    rows = channels.astype(np.uint8).reshape(height, 3 * width)

    found = list(chunks(file.read_bytes()))
    header = struct.pack(">IIBBBBB", width, height, 8, RED_GREEN_BLUE, 0, 0, 0)
    assert found[0] == (b"IHDR", header)
    assert found[-1] == (b"IEND", b"")
    assert {name for name, _ in found[1:-1]} == {b"IDAT"}
    stream = zlib.decompressobj()
    unfiltered = stream.decompress(b"".join(data for _, data in found[1:-1]))
    assert (stream.eof, stream.unused_data) == (True, b"")
    assert unfiltered == b"".join(b"\0" + row.tobytes() for row in rows)

    with Image.open(file) as image:
        assert image.mode == "RGB"
        assert (np.asarray(image) == channels).all()


@pytest.mark.parametrize(("width", "height"), [(0, 5), (5, 0)])
def test_a_picture_without_pixels_is_refused(width: int, height: int, tmp_path: Path) -> None:
    with (tmp_path / "picture.png").open("wb") as opened:
        assert library().png_write(opened, Canvas(width, height).picture) == -1
    assert ffi().errno == errno.EINVAL
    assert (tmp_path / "picture.png").read_bytes() == b""


def test_a_full_disk_is_told() -> None:
    with Path("/dev/full").open("wb", buffering=0) as opened:
        assert library().png_write(opened, Canvas(64, 64).picture) == -1
    assert ffi().errno == errno.ENOSPC
