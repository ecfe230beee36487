# SPDX-License-Identifier: MIT
"""The throttle's records in bytes: layout, damage, and the invariants of a table of records."""

import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import CHECKOUT
from sample_runs import experiment, frame, outcome

from understudy_devices.base.errors import RunFailed
from understudy_devices.measure import records

CTYPES = {"__u64": "<u8", "__u32": "<u4", "__s32": "<i4", "__u16": "<u2", "__u8": "u1"}


def raw(**fields: Any) -> np.ndarray[Any, Any]:
    """Return two valid records with these fields changed."""
    good = np.zeros(2, records.RECORD)
    good["arrival_ns"] = [1000, 1010]
    good["pick_ns"] = good["dispatch_ns"] = [1020, 1060]
    good["due_ns"] = [1050, 1090]
    good["completion_ns"] = [1051, 1091]
    good["sector"] = [16, 64]
    good["sectors"] = 8
    good["request_id"] = [7, 8]
    good["model_service_ns"] = 30
    for field, value in fields.items():
        good[field] = value
    return good


def test_layout_is_the_kernels() -> None:
    header = (CHECKOUT / "kernel" / "vpt" / "record.h").read_text(encoding="utf-8")
    body = re.search(r"struct vpt_record \{(.*?)\n\};", header, re.DOTALL)
    assert body
    members = re.findall(r"^\s*(__\w+) (\w+);", body[1], re.MULTILINE)
    ours = [(name, records.RECORD[name]) for name in records.RECORD.names or ()]
    assert ours == [(name, np.dtype(CTYPES[ctype])) for ctype, name in members]
    assert records.RECORD.itemsize == 80
    for flag, bit in records.FLAGS.items():
        assert re.search(rf"#define VPT_{flag.upper()} {bit:#x}\b", header)


def test_reasons_are_the_cores() -> None:
    header = (CHECKOUT / "core" / "request.h").read_text(encoding="utf-8")
    names = re.findall(r"PICK_(\w+) = \d", header)
    assert [name.lower() for name in names if name != "REASONS"] == list(records.REASONS.categories)


def test_columns_start_with_designs_and_times_with_the_first_arrival() -> None:
    table = records.from_bytes(raw(flags=0x1 | 0x4, op=1, reason=3).tobytes())
    assert table.columns[:13] == [
        "arrival_ns",
        "pick_ns",
        "dispatch_ns",
        "due_ns",
        "completion_ns",
        "sector",
        "sectors",
        "op",
        "owner",
        "request_id",
        "model_service_ns",
        "hit",
        "late",
    ]
    assert table["arrival_ns"].to_list() == [0, 10]
    assert table["completion_ns"].to_list() == [51, 91]
    assert table["model_service_ns"].to_list() == [30, 30]
    assert table.select("hit", "late", "stale", "meta").row(0) == (True, False, True, False)
    assert table.select("op", "reason").row(1) == ("write", "expired")


def test_a_given_origin_is_used() -> None:
    table = records.from_bytes(raw().tobytes(), origin_ns=900)
    assert table["arrival_ns"].to_list() == [100, 110]


def test_an_instant_that_never_came_is_null_and_fails_the_check() -> None:
    table = records.from_bytes(raw(completion_ns=[1051, 0]).tobytes())
    assert table["completion_ns"].to_list() == [51, None]
    with pytest.raises(RunFailed, match="the first never completed: row=1,"):
        records.check(table)


@pytest.mark.parametrize("extra", [1, 79])
def test_a_cut_record_is_refused(extra: int) -> None:
    with pytest.raises(RunFailed, match=f"cut off: {160 + extra} bytes are 2 records"):
        records.from_bytes(raw().tobytes() + b"\0" * extra)


def test_counts_must_agree_with_the_throttles() -> None:
    data = raw().tobytes()
    with pytest.raises(RunFailed, match="too few records: 2 were read, but the throttle counted 3"):
        records.from_bytes(data, expected=3)
    with pytest.raises(RunFailed, match="too many records"):
        records.from_bytes(data, expected=1)
    assert records.from_bytes(data, expected=2).height == 2


def test_no_record_at_all_is_refused() -> None:
    with pytest.raises(RunFailed, match="recorded no request"):
        records.from_bytes(b"")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("op", 3),
        ("reason", 6),
        ("flags", 0x10),
        ("sector", 2**63),
        ("arrival_ns", 0),
        ("request_id", 0),
    ],
)
def test_numbers_that_no_throttle_writes_are_damage(field: str, value: int) -> None:
    with pytest.raises(RunFailed, match=f"record 0 is damaged: {field} is {value}"):
        records.from_bytes(raw(**{field: [value, 1]}).tobytes())


@pytest.mark.parametrize(
    ("field", "value"),
    [("op", 2), ("reason", 5), ("flags", 0xF), ("sector", 2**63 - 1), ("request_id", 1)],
)
def test_the_largest_numbers_that_a_throttle_writes_pass(field: str, value: int) -> None:
    table = records.from_bytes(raw(**{field: [value, 1]}).tobytes())
    if field in ("sector", "request_id"):
        assert table[field][0] == value


@given(st.binary(max_size=400))
def test_any_bytes_are_a_table_or_a_clear_refusal(data: bytes) -> None:
    table = table_or_refusal(data)
    if isinstance(table, pl.DataFrame):
        assert table.height == len(data) // 80
        assert table.schema == pl.Schema(records.SCHEMA)
    else:
        assert table
        assert "\n" not in table


@given(st.integers(0, 159), st.integers(0, 255))
def test_one_wrong_byte_is_a_table_or_a_clear_refusal(place: int, value: int) -> None:
    data = bytearray(raw().tobytes())
    data[place] = value
    result = table_or_refusal(bytes(data))
    assert isinstance(result, pl.DataFrame) or "record " in result


def table_or_refusal(data: bytes) -> pl.DataFrame | str:
    """Return the table, or the message if the bytes are refused; any other exception is a bug."""
    try:
        return records.from_bytes(data)
    except RunFailed as refusal:
        return str(refusal)


def test_good_records_pass() -> None:
    records.check(records.from_bytes(raw().tobytes()))
    records.check(outcome(experiment()).requests)


GOOD = {
    "arrival_ns": 0,
    "pick_ns": 10,
    "dispatch_ns": 20,
    "due_ns": 30,
    "completion_ns": 40,
}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pick_ns": -1}, "was picked before it arrived"),
        ({"dispatch_ns": 9}, "was dispatched before it was picked"),
        ({"due_ns": 19}, "was due before it was dispatched"),
        ({"completion_ns": 29}, "completed before it was due"),
        ({"due_ns": None}, "has no due time"),
        ({"sectors": 0}, "is empty"),
        ({"error": -5}, "failed"),
    ],
)
def test_a_broken_promise_names_the_first_offender(change: dict[str, Any], words: str) -> None:
    table = frame([GOOD, GOOD | change, GOOD | change])
    with pytest.raises(RunFailed) as caught:
        records.check(table)
    assert str(caught.value).startswith(f"2 records are wrong, the first {words}: row=1, ")


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("completion_ns", "never completed"),
        ("dispatch_ns", "was never dispatched"),
        ("pick_ns", "was never dispatched"),
    ],
)
def test_what_never_happened_is_named(field: str, words: str) -> None:
    first = pl.col("request_id") == 1
    table = frame([GOOD, GOOD]).with_columns(pl.when(first).then(field).alias(field))
    with pytest.raises(RunFailed, match=f"1 records are wrong, the first {words}: row=1, "):
        records.check(table)


def test_a_flush_is_not_over_before_it_is_dispatched() -> None:
    flush = GOOD | {"op": "other", "due_ns": None, "completion_ns": 19}
    with pytest.raises(RunFailed, match="completed before it was dispatched: row=0, "):
        records.check(frame([flush]))


def test_everything_may_happen_at_one_instant() -> None:
    records.check(frame([dict.fromkeys(GOOD, 7)]))


def test_a_flush_needs_no_due_time_and_no_sectors() -> None:
    records.check(frame([GOOD | {"op": "other", "due_ns": None, "sectors": 0}]))


@pytest.mark.parametrize(
    "change",
    [
        {"completion_ns": 41},
        {"due_ns": 31},
        {"hit": True},
        {"reason": "table"},
        {"op": "write"},
        {"model_service_ns": 5},
    ],
)
def test_rows_of_one_request_must_agree(change: dict[str, Any]) -> None:
    good = GOOD | {"request_id": 5}
    records.check(frame([good, good | {"sector": 8, "arrival_ns": 3}]))
    with pytest.raises(RunFailed, match="differs from another row of its request: row=1,"):
        records.check(frame([good, good | change]))
