# SPDX-License-Identifier: MIT
"""What a disk says about itself: pages as the standards define them, and arbitrary bytes."""

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy_devices.device.profile import DiskFacts
from understudy_devices.profiler.findings.finding import toml_lines
from understudy_devices.profiler.targets.disk import facts, scsi
from understudy_devices.profiler.targets.disk.scsi import Said

CACHING = bytes.fromhex("0812 0400 ffff 0000 ffff ffff 8014 0000 0000 0000".replace(" ", ""))


def inquiry(vendor: bytes, model: bytes, kind: int = 0) -> bytes:
    return bytes([kind, 0, 5, 2, 91, 0, 0, 0]) + vendor.ljust(8) + model.ljust(16) + b"1.00"


def sensed(page: bytes, descriptor: bytes = bytes(8)) -> bytes:
    """Wrap a page as in the answer to MODE SENSE (10)."""
    rest = bytes([0, 0, 0, 0]) + len(descriptor).to_bytes(2, "big") + descriptor + page
    return len(rest).to_bytes(2, "big") + rest


def geometry(rpm: int) -> bytes:
    return bytes([0x04, 0x16]) + bytes(18) + rpm.to_bytes(2, "big") + bytes(2)


def test_vendor_and_model() -> None:
    assert scsi.inquiry(inquiry(b"SEAGATE", b"ST336754LW")) == Said("SEAGATE", "ST336754LW")
    assert scsi.inquiry(inquiry(b"", b"A B")) == Said(None, "A B")
    assert scsi.inquiry(inquiry(b"X", b"tape", kind=1)) == Said()


@pytest.mark.parametrize(
    ("rate", "facts"),
    [
        (15_000, Said(rpm=15_000, rotates=True)),
        (1, Said(rotates=False)),
        (0, Said()),
        (0x400, Said()),
        (0xFFFF, Said()),
    ],
)
def test_how_fast_it_turns(rate: int, facts: Said) -> None:
    page = bytes([0, 0xB1, 0, 0x3C]) + rate.to_bytes(2, "big") + bytes(58)
    assert scsi.characteristics(page) == facts
    assert scsi.mode_page(sensed(geometry(rate))) == facts


@pytest.mark.parametrize(
    ("flags", "write", "read"), [(0x04, True, True), (0x00, False, True), (0x05, True, False)]
)
@pytest.mark.parametrize("descriptor", [b"", bytes(8), bytes(16)])
def test_caches(flags: int, write: bool, read: bool, descriptor: bytes) -> None:
    page = CACHING[:2] + bytes([flags]) + CACHING[3:]
    expected = Said(write_cache=write, read_cache=read)
    assert scsi.mode_page(sensed(page, descriptor)) == expected


def test_pages_that_are_none() -> None:
    assert scsi.mode_page(sensed(CACHING)[:10]) == Said()
    assert scsi.mode_page(sensed(bytes([0x48]) + CACHING[1:])) == Said()  # a subpage
    assert scsi.mode_page(sensed(bytes([0x3F, 0x02, 0, 0]))) == Said()
    assert scsi.characteristics(bytes([0, 0xB0, 0, 0x3C, 0x1C, 0x20])) == Said()


def test_the_page_of_a_longer_answer_is_not_read_beyond_its_end() -> None:
    answer = sensed(CACHING)
    short = (int.from_bytes(answer[:2], "big") - len(CACHING)).to_bytes(2, "big") + answer[2:]
    assert scsi.mode_page(short) == Said()


@given(st.binary(max_size=scsi.ROOM))
def test_any_bytes(data: bytes) -> None:
    for parse in (scsi.inquiry, scsi.characteristics, scsi.mode_page):
        answer = parse(data)
        for words in (answer.vendor, answer.model):
            assert words is None or (words.isprintable() and words.isascii() and words.strip())
        assert answer.rpm is None or 1025 <= answer.rpm <= 65534


@given(
    st.builds(
        Said,
        vendor=st.none() | st.binary(max_size=8).map(scsi.text),
        model=st.none() | st.binary(max_size=16).map(scsi.text),
        write_cache=st.none() | st.booleans(),
        read_cache=st.none() | st.booleans(),
        rpm=st.none() | st.integers(1025, 65534),
        rotates=st.none() | st.booleans(),
    )
)
def test_whatever_it_says_the_profile_can_be_read(answer: Said) -> None:
    document = tomllib.loads("\n".join(toml_lines(facts.findings(answer, 1000))))
    if not answer.model:
        assert document == {}
        return
    read = DiskFacts.model_validate(document["facts"])
    assert (read.vendor, read.model, read.rpm) == (
        answer.vendor or "unknown",
        answer.model,
        answer.rpm,
    )
    assert read.capacity_sectors == 1000


def test_what_the_kernel_says(tmp_path: Path) -> None:
    disk = tmp_path / "dev" / "block" / "8:0"
    for name, text in {
        "device/vendor": "ATA     \n",
        "device/model": 'A "disk"\n',
        "queue/rotational": "1\n",
        "queue/write_cache": "write back\n",
    }.items():
        (disk / name).parent.mkdir(parents=True, exist_ok=True)
        (disk / name).write_text(text)
    assert facts.kernel(os.makedev(8, 0), tmp_path) == Said(
        vendor="ATA", model="A disk", write_cache=True, rotates=True
    )
    (disk / "device" / "vendor").write_text("0x1af4\n")
    assert facts.kernel(os.makedev(8, 0), tmp_path).vendor is None
    assert facts.kernel(os.makedev(8, 16), tmp_path) == Said()


def test_a_file_says_nothing(tmp_path: Path) -> None:
    file = tmp_path / "image"
    file.touch()
    with file.open("rb") as content:
        assert facts.ask(content.fileno()) == Said()
        assert scsi.ask(content.fileno()) == Said()


def test_a_word_that_was_said_stands() -> None:
    assert Said(rpm=7200).or_else(Said(rpm=5400, vendor="X")) == Said(vendor="X", rpm=7200)
    assert Said(rotates=False).or_else(Said(rotates=True)).rotates is False
