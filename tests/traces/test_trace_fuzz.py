# SPDX-License-Identifier: MIT
"""Changed, mixed and cut files of every format, through everything that `trace info` does."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_trace_readers import EDITS, SAMPLES, mutated

from understudy_devices.api.trace import Recorded
from understudy_devices.base.errors import UserError
from understudy_devices.traces.read import recorded

NAMES = sorted(SAMPLES)


def described(data: bytes) -> Recorded | None:
    """Return the description of a trace; None if it is refused in one line."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "t").write_bytes(data)
        try:
            one = Recorded("", recorded(f"{folder}/t"))
        except UserError as error:
            refusal = str(error)
        else:
            refusal = ""
    if refusal:
        assert refusal.startswith(f"{folder}/t: ")
        assert "\n" not in refusal
        return None
    json.dumps(one.as_json(), allow_nan=False)
    assert one.requests.height == len(one.trace)
    assert all("\n" not in notice for notice in one.notices)
    assert (one.trace.arrival_ns >= 0).all()
    return one


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(NAMES), EDITS)
def test_changed(name: str, edits: list[tuple[int, int, bytes]]) -> None:
    described(mutated(SAMPLES[name][0], edits))


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(0, 2**16))
def test_with_lines_of_another_format(name: str, other: str, at: int) -> None:
    lines = SAMPLES[name][0].splitlines(keepends=True)
    others = SAMPLES[other][0].splitlines(keepends=True)
    place = at % (len(lines) + 1)
    described(b"".join([*lines[:place], others[at % len(others)], *lines[place:]]))


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(NAMES), st.integers(0, 2**16))
def test_lines_out_of_order(name: str, seed: int) -> None:
    lines = SAMPLES[name][0].splitlines(keepends=True)
    first, second = seed % len(lines), seed // 7 % len(lines)
    lines[first], lines[second] = lines[second], lines[first]
    described(b"".join(lines))


@pytest.mark.parametrize("name", NAMES)
def test_cut_anywhere(name: str) -> None:
    """A cut file never has more requests than the whole one."""
    data = SAMPLES[name][0]
    whole = described(data)
    most = len(whole.trace) if whole else 0
    for end in range(0, len(data), 7):
        cut = described(data[:end])
        assert cut is None or len(cut.trace) <= most
