# SPDX-License-Identifier: MIT
"""The size of the pieces in which a trace's file is read makes no difference, in any format."""

import gzip
from collections.abc import Callable
from dataclasses import fields
from itertools import accumulate
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest
from block_events import Requests, one_file
from test_trace_readers import oracle, record_1, record_2

from understudy_devices.base import file_arrays
from understudy_devices.native import blktrace
from understudy_devices.traces import events, text
from understudy_devices.traces.characterise import characterise
from understudy_devices.traces.formats import fio, oraclegeneral, parquet, vscsi
from understudy_devices.traces.read import recorded
from understudy_devices.traces.trace import Trace

pytestmark = pytest.mark.thorough

REQUESTS = 120
DRAW = Random(1)
BEGUN_US = [at + DRAW.randrange(400) for at in accumulate(DRAW.choices(range(300), k=REQUESTS))]
LASTED_US = DRAW.choices(range(1, 900), k=REQUESTS)
BLOCKS = DRAW.choices(range(1000), k=REQUESTS)
LENGTHS = DRAW.choices((0, 1, 512, 4096, 70_000), k=REQUESTS)
OWNERS = DRAW.choices("edcba", k=REQUESTS)
ASKED = list(zip(BEGUN_US, LASTED_US, BLOCKS, LENGTHS, OWNERS, strict=True))


def lines(header: str, *line: str) -> bytes:
    return (header + "".join(f"{one}\n" for one in line)).encode()


def quoted(owner: str) -> str:
    """Return a name with a quote, a comma and an end of line."""
    return f'"{owner}"",\n"'


def systor() -> bytes:
    """Return a file in which the first third and some other rows have no response time."""
    answers = [f"0.{t:06}" if n > REQUESTS / 3 and n % 7 else "" for n, t in enumerate(LASTED_US)]
    rows = zip(ASKED, answers, strict=True)
    return lines(
        "Timestamp,Response,IOType,LUN,Offset,Size\n",
        *(f"{10**9 + us / 1e6:.6f},{t},R,{own},{b},{size}" for (us, _, b, size, own), t in rows),
    )


def iolog_2() -> bytes:
    each = (f"/dev/{own} wait {t} 0\n/dev/{own} read {b} {size}" for _, t, b, size, own in ASKED)
    return lines("fio version 2 iolog\n", *each)


def printed() -> bytes:
    """Return the requests as blkparse prints them."""
    events = [
        event
        for n, (us, t, *_) in enumerate(ASKED)
        for event in ((us, "D", n), (us + t, "C", n))
        if n != 5 or event[1] == "D"
    ]
    return lines(
        "",
        *(
            f"  8,0    1 {n:8} {0:5}.{us * 1000:09}   69{n % 3}  {what}   R {n * 64} + 8 [cat]"
            for us, what, n in sorted(events)
        ),
    )


def in_runs() -> bytes:
    """Return a run folder's file in which the rows of two runs alternate."""
    table = pl.DataFrame(
        {
            "scheduler": ["fcfs", "cats"] * (REQUESTS // 2),
            "seed": [1] * REQUESTS,
            "arrival_ns": BEGUN_US,
            "completion_ns": np.add(BEGUN_US, LASTED_US),
            "sector": BLOCKS,
            "sectors": np.add(LENGTHS, 1),
            "op": ["read", "write", "other"] * (REQUESTS // 3),
            "owner": OWNERS,
        }
    )
    table.write_parquet(path := Path("written.parquet"), row_group_size=17)
    return path.read_bytes()


FORMATS: dict[str, Callable[[], bytes]] = {
    "msr": lambda: lines(
        "", *(f"{10**17 + us * 10},{own},1,Read,{b},{size},{t}" for us, t, b, size, own in ASKED)
    ),
    "systor": systor,
    "alibaba": lambda: lines(
        "", *(f"{ord(own)},W,{b},{size},{10**15 + us}" for us, _, b, size, own in ASKED)
    ),
    "tencent": lambda: lines(
        "", *(f"{10**9 + us // 1000},{b},{size},0,{ord(own)}" for us, _, b, size, own in ASKED)
    ),
    "iolog 2": iolog_2,
    "iolog 3": lambda: lines(
        "fio version 3 iolog\n",
        *(f"{us} /dev/{own} write {b} {size}" for us, _, b, size, own in ASKED),
    ),
    "vscsi 1": lambda: b"".join(record_1(us, 0x28, size, b) for us, _, b, size, _ in ASKED),
    "vscsi 2": lambda: b"".join(record_2(us, t, 0x2A, size, b) for us, t, b, size, _ in ASKED),
    "oraclegeneral": lambda: b"".join(
        oracle(us // 10**6, b // 512, size, -1) for us, _, b, size, _ in ASKED
    ),
    "ours": lambda: lines(
        "arrival_ns,completion_ns,sector,sectors,owner\n",
        *(f"{us},{us + t},{b},{size + 1},{quoted(own)}" for us, t, b, size, own in ASKED),
    ),
    "fio": lambda: lines(
        "", *(f"{us // 50}, {t * 1000}, 0, 4096, {b * 512}, 0" for us, t, b, *_ in ASKED)
    ),
    "blkparse": printed,
    "blktrace": lambda: one_file(Requests(3).events),
    "parquet": in_runs,
}

REFUSED_IF_CUT = ("ours", "parquet")
CASES = [(name, 0) for name in FORMATS] + [
    (name, 11) for name in FORMATS if name not in REFUSED_IF_CUT
]


def read_in(file: str, size: int) -> Trace:
    """Read a file in pieces of `size` bytes, records or rows.

    Columns are in blocks of `size` values.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in (fio, parquet):
            patch.setattr(module, "PIECE_ROWS", size)
        patch.setattr(events, "PIECE_EVENTS", size)
        for module in (oraclegeneral, vscsi):
            patch.setattr(module, "PIECE_RECORDS", size)
        patch.setattr(text, "PIECE_BYTES", size)
        patch.setattr(blktrace, "CHUNK_ROWS", size)
        patch.setattr(file_arrays, "BLOCK", size)
        return recorded(file)


@pytest.mark.parametrize(
    ("name", "cut", "packed"),
    [
        pytest.param(name, cut, packed, marks=[pytest.mark.slow] * (packed != bool(cut)))
        for name, cut in CASES
        for packed in (False, True)
    ],
)
def test_any_pieces(
    name: str, cut: int, packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = FORMATS[name]()
    data = data[: len(data) - cut]
    (tmp_path / "t").write_bytes(gzip.compress(data) if packed else data)
    file = "t:cats" if name == "parquet" else "t"
    if name == "parquet":
        (tmp_path / "result.json").write_text('{"inputs": {"scale": 3}}')
    whole = read_in(file, 2**20)
    assert len(whole) >= 10
    for size in (1, 13, 100):
        trace = read_in(file, size)
        for field in fields(Trace):
            ours, other = getattr(trace, field.name), getattr(whole, field.name)
            assert np.array_equal(ours, other), (size, field.name, ours, other)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(file_arrays, "BLOCK", size)
            assert characterise(trace) == characterise(whole)
