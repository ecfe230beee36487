# SPDX-License-Identifier: MIT
"""A served disk returns what was written: over several connections, from memory and from a file, to
our client and to fio.
"""

import random
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from nbd import (
    FAST_ZERO,
    FLUSH,
    HAS_CACHE,
    HAS_FUA,
    HAS_TRIM,
    HAS_ZEROES,
    IS_ROTATIONAL,
    MULTI_CONNECTION,
    READ,
    TRIM,
    WRITE,
    WRITE_ZEROES,
    Client,
    Request,
)
from serving import serving

pytestmark = pytest.mark.thorough

SECTOR = 512
SECTORS = 200_000
QUICK = "[model]\nintercept_ms = 0.01\nfull_seek_ms = 0.1\n[queue]\ndepth = 32\n"
CONNECTIONS = 4
SLICE = SECTORS // CONNECTIONS
LONGEST = 64
FIO = (
    *("--rw=randwrite", "--bs=4k", "--size=8M", "--numjobs=2", "--offset_increment=50%"),
    *("--iodepth=16", "--verify=crc32c", "--verify_fatal=1"),
)


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """Return the options for a fast disk."""
    profile = tmp_path / "quick.toml"
    profile.write_text(QUICK)
    return ["--disk", str(profile), "--size", f"{SECTORS}s"]


def change_at_random(client: Client, first: int, sectors: int, seed: int) -> bytes:
    """Write, zero, trim and read in a slice of the disk; return what the slice should hold then.

    Requests that do not overlap are in flight together. Trimmed sectors are written again, since
    their content is undefined.
    """
    draw, expected = random.Random(seed), bytearray(SECTOR * sectors)
    for _ in range(25):
        changes = []
        for part in range(8):
            room = sectors // 8
            length = draw.randint(1, LONGEST)
            at = SECTOR * (part * room + draw.randrange(room - LONGEST))
            kind = draw.choice((WRITE, WRITE, WRITE_ZEROES, TRIM))
            data = draw.randbytes(SECTOR * length) if kind != WRITE_ZEROES else b""
            expected[at : at + SECTOR * length] = data or bytes(SECTOR * length)
            sent = (data,) if kind == WRITE else (b"",)
            changes.append(Request(kind, SECTOR * first + at, SECTOR * length, 0, *sent))
            if kind == TRIM:
                client.ask(changes.pop())
                changes.append(Request(WRITE, SECTOR * first + at, data=data))
        client.ask_all(changes)
        at = SECTOR * draw.randrange(sectors - LONGEST)
        content = client.ask(Request(READ, SECTOR * first + at, SECTOR * LONGEST))
        assert content == expected[at : at + SECTOR * LONGEST]
    return bytes(expected)


@pytest.mark.parametrize("place", ["memory", "file", "port"])
def test_connections_side_by_side(words: list[str], tmp_path: Path, place: str) -> None:
    """Each connection changes its own slice, and then reads the whole disk."""
    data = tmp_path / "disk.img"
    extra = {"memory": [], "file": ["--data", str(data)], "port": ["--port", "0"]}[place]
    with (
        serving(tmp_path, *words, *extra) as served,
        ThreadPoolExecutor(CONNECTIONS) as pool,
        ExitStack() as stack,
    ):
        clients = [stack.enter_context(served.client()) for _ in range(CONNECTIONS)]
        firsts = range(0, SECTORS, SLICE)
        expected = b"".join(
            pool.map(change_at_random, clients, firsts, [SLICE] * CONNECTIONS, range(CONNECTIONS))
        )
        for client in clients:
            client.ask(Request(FLUSH))
            assert read_all(client) == expected
    if place == "file":
        assert data.read_bytes() == expected


def read_all(client: Client) -> bytes:
    step = 2**20
    return b"".join(
        client.ask(Request(READ, at, min(step, client.size - at)))
        for at in range(0, client.size, step)
    )


def test_a_file_is_sparse_and_kept(words: list[str], tmp_path: Path) -> None:
    """The file is made if it is missing, and keeps its data for the next server."""
    data = tmp_path / "disk.img"
    for number in range(2):
        with (
            serving(tmp_path / str(number), *words, "--data", str(data)) as served,
            served.client() as client,
        ):
            assert client.size == SECTOR * SECTORS
            assert client.read(777) == (bytes(4096) if number == 0 else b"kept" * 1024)
            client.write(777, b"kept" * 1024)
    assert data.stat().st_size == SECTOR * SECTORS
    assert data.stat().st_blocks < 100


def test_a_disk_is_as_large_as_its_file(words: list[str], tmp_path: Path) -> None:
    """The size is in whole sectors; with --size the disk is the first part of the file."""
    data = tmp_path / "disk.img"
    data.write_bytes(bytes(1_000_001))
    for number, size in enumerate(([], ["--size", "1000s"])):
        arguments = [*words[:2], *size, "--data", str(data)]
        with serving(tmp_path / str(number), *arguments) as served, served.client() as client:
            assert client.size == (512_000 if size else 999_936)
            with pytest.raises(OSError, match="server says"):
                client.read(client.size // SECTOR)


def test_what_the_disk_says_of_itself(words: list[str], tmp_path: Path) -> None:
    """Requests must be whole sectors; writing zeroes is not reported as fast."""
    with serving(tmp_path, *words) as served, served.client() as client:
        for flag in (HAS_FUA, HAS_TRIM, HAS_ZEROES, IS_ROTATIONAL, MULTI_CONNECTION):
            assert client.flags & flag
        for flag in (FAST_ZERO, HAS_CACHE):
            assert not client.flags & flag
        assert client.blocks[:2] == (512, 4096)
        for request in (
            Request(READ, 1, 512),
            Request(READ, 0, 100),
            Request(WRITE, 256, data=b"x" * 512),
            Request(TRIM, 512, 511),
            Request(WRITE_ZEROES, 5, 512),
        ):
            with pytest.raises(OSError, match="server says 22"):
                client.ask(request)
        assert client.read(0) == bytes(4096)
        report = served.end()
    assert report["requests"] == 1


def test_an_array_does_not_rotate(tmp_path: Path) -> None:
    with (
        serving(tmp_path, "--disk", "ssd-s4600", "--size", "64M") as served,
        served.client() as client,
    ):
        assert not client.flags & IS_ROTATIONAL


def test_fio_finds_what_it_wrote(words: list[str], tmp_path: Path) -> None:
    """fio verifies the blocks that its two jobs wrote at random."""
    with serving(tmp_path, *words) as served:
        uri = f"nbd+unix:///?socket={served.socket}"
        done = subprocess.run(
            ["fio", "--name=v", "--ioengine=nbd", f"--uri={uri}", *FIO],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        report = served.end()
    assert report["requests"] == 2 * 2 * 2048
