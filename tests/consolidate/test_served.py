# SPDX-License-Identifier: MIT
"""Service times derived from arrivals and completions, compared with simulated servers."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy_devices.consolidation.service_times import served
from understudy_devices.consolidation.vm import Reduction, read
from understudy_devices.traces.characterise import most_outstanding

REQUESTS = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 100)), min_size=1, max_size=60)


def watched(requests: list[tuple[int, int]], servers: int) -> tuple[list[int], list[int]]:
    """Simulate servers of which the first free one takes the next request; return arrivals and
    responses."""
    free_at, now = [0] * servers, 0
    arrivals, responses = [], []
    for gap, service in requests:
        now += gap
        first = min(range(servers), key=free_at.__getitem__)
        free_at[first] = max(now, free_at[first]) + service
        arrivals.append(now)
        responses.append(free_at[first] - now)
    return arrivals, responses


@given(REQUESTS, st.integers(1, 5))
def test_what_was_watched_is_told(requests: list[tuple[int, int]], servers: int) -> None:
    arrivals, responses = (np.array(column) for column in watched(requests, servers))
    result = served(arrivals, responses, servers)
    assert result.service_ns.tolist() == [service for _, service in requests]
    assert result.agrees
    waited = sum(int(each) > own for each, (_, own) in zip(responses, requests, strict=True))
    assert result.waited == waited


@given(REQUESTS)
def test_the_most_outstanding(requests: list[tuple[int, int]]) -> None:
    arrivals, responses = (np.array(column) for column in watched(requests, 3))
    ends = arrivals + responses
    counts = [((arrivals <= at) & (ends > at)).sum() for at in arrivals]
    assert most_outstanding(arrivals, ends) == max(counts)


def test_a_device_that_does_more_at_once_is_found_out() -> None:
    """Eight servers are declared as four: the service times then equal the response times."""
    draw = np.random.default_rng(1)
    requests = [(int(draw.integers(3)), int(draw.integers(1, 12))) for _ in range(2000)]
    arrivals, responses = (np.array(column) for column in watched(requests, 8))
    result = served(arrivals, responses, 4)
    assert not result.agrees
    assert result.service_ns.tolist() == responses.tolist()
    assert result.beyond > 0


def test_a_few_that_contradict_keep_their_response_times() -> None:
    """One of two hundred requests overtakes those that wait for the server."""
    arrivals = np.arange(200) * 10
    responses = np.array([8, 13] * 100)
    responses[51] = 3  # completes after its arrival, but before the server is free
    responses[50] = 12
    result = served(arrivals, responses, 1)
    assert (result.beyond, result.contradicts) == (0, False)
    responses[51] = 1
    result = served(arrivals, responses, 1)
    assert (result.beyond, result.contradicts) == (1, False)
    assert result.service_ns[51] == 1
    assert result.service_ns[2] == 5


@pytest.mark.parametrize("by", ["issue", "queue"])
def test_a_run_has_both(tmp_path: Path, by: str) -> None:
    """Each request is issued 5 ns after it was queued; on one server the second request waits
    for the first."""
    pl.DataFrame(
        {
            "arrival_ns": [0, 10, 100],
            "dispatch_ns": [5, 15, 105],
            "completion_ns": [45, 65, 115],
            "sector": [0, 8, 16],
            "sectors": [8, 8, 8],
        }
    ).write_parquet(tmp_path / "vm.parquet")
    how = Reduction(by="queue" if by == "queue" else "issue", servers=1)
    [run] = read("vm", tmp_path / "vm.parquet", tmp_path / "kept", how).runs
    if by == "queue":
        assert run.response_ns.tolist() == [45, 55, 15]
        assert run.service_ns.tolist() == [40, 50, 10]
    else:
        assert run.response_ns.tolist() == [40, 50, 10]
        assert run.service_ns.tolist() == [40, 20, 10]
    assert run.notes == ()
