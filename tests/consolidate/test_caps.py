# SPDX-License-Identifier: MIT
"""Caps of VMs, compared with an independent token bucket."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from independent_consolidation import Requests, responses

from understudy_devices.base import file_arrays
from understudy_devices.base.errors import UserError
from understudy_devices.cli.main import main
from understudy_devices.consolidation.caps import Bucket, parse, passed_ns
from understudy_devices.consolidation.map import MarkovianArrivalProcess
from understudy_devices.native.arrivals import write_arrivals
from understudy_devices.native.open_queue import CustomerClass, OpenQueue, simulate
from understudy_devices.native.service_times import ServiceTimes

SERVICE_MS = 2.0


def passed_s(at_s: list[float], costs: list[float], rate: float, size: float) -> list[float]:
    """Pass requests by counting tokens."""
    tokens, then_s, passes_s = size, at_s[0], []
    for arrival_s, cost in zip(at_s, costs, strict=True):
        now_s = max(arrival_s, then_s)
        tokens = min(size, tokens + (now_s - then_s) * rate)
        wanted = min(cost, size)
        if tokens < wanted:
            now_s += (wanted - tokens) / rate
            tokens = wanted
        tokens -= cost
        then_s = now_s
        passes_s.append(now_s)
    return passes_s


@given(
    gaps=st.lists(st.integers(0, 50_000_000), min_size=1, max_size=60),
    rate=st.floats(1, 5_000),
    size=st.floats(1, 40),
    of_bytes=st.booleans(),
    data=st.data(),
)
def test_a_bucket_passes_what_counting_tokens_passes(
    gaps: list[int], rate: float, size: float, of_bytes: bool, data: st.DataObject
) -> None:
    at_ns = np.cumsum(gaps)
    sectors = data.draw(st.lists(st.integers(1, 64), min_size=len(gaps), max_size=len(gaps)))
    scale = 4096 if of_bytes else 1
    costs = [512.0 * one for one in sectors] if of_bytes else [1.0] * len(gaps)
    own = passed_ns(at_ns, np.array(sectors), [Bucket(rate * scale, size * scale, of_bytes)])
    expected = passed_s((at_ns / 1e9).tolist(), costs, rate * scale, size * scale)
    assert own / 1e9 == pytest.approx(expected, abs=1e-6)
    assert (np.diff(own) >= 0).all()
    assert (own >= at_ns).all()


def test_blocks_are_one_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(1)
    at_ns = draw.exponential(1e6, 2000).cumsum().astype(np.int64)
    sectors = draw.integers(1, 256, 2000)
    buckets = parse("900iops:2000iops:1s,30MB/s").buckets
    whole = passed_ns(at_ns, sectors, buckets)
    monkeypatch.setattr(file_arrays, "BLOCK", 64)
    assert passed_ns(at_ns, sectors, buckets) == pytest.approx(whole, abs=2)


def test_bursts_are_those_of_clouds() -> None:
    """A volume of 100 GB with 300 IOPS that bursts to 3,000 holds 5.4 million credits, and bursts
    for 2,000 s: Amazon's gp2.  One of 500 IOPS that bursts to 3,500 for half an hour: Azure's P10.
    """
    for text, credits in (
        ("300iops:3000iops:2000s", 5_400_000),
        ("500iops:3500iops:1800s", 5_400_000),
    ):
        [base, most] = parse(text).buckets
        assert (base.size, most.rate) == (credits, float(text.split("iops")[1].lstrip(":")))
    base, most = parse("300iops:3000iops:20s").buckets
    at_ns = (np.arange(120_000) * 1e9 / 4000).astype(np.int64)
    passes_s = passed_ns(at_ns, np.full(len(at_ns), 8), (base, most)) / 1e9
    per_s = np.bincount(passes_s.astype(int))
    assert per_s[1:19] == pytest.approx(3000, abs=2)
    assert per_s[22:40] == pytest.approx(300, abs=2)


def test_a_wait_counts_in_the_response_time(tmp_path: Path) -> None:
    """On two servers, of 5 ms each, nobody waits but for the cap."""
    waited_ns = np.arange(10) * 1_000_000
    arrivals = write_arrivals(
        tmp_path, np.arange(10) * 10**8, np.ones(10, int), np.full(10, 5 * 10**6), None, waited_ns
    )
    assert arrivals == type(arrivals).open(tmp_path)
    assert arrivals.waited_ns.tolist() == waited_ns.tolist()
    assert arrivals.pieces.tolist() == [1] * 10
    assert not arrivals.write.any()
    service = ServiceTimes.of(MarkovianArrivalProcess([[-1e-6]], [[1e-6]]).tables())
    alone = CustomerClass(arrivals, service, recorded=True, block=0)
    [figures] = simulate(OpenQueue((alone,), 2), 1).each
    assert figures.longest_response_ns == 14 * 10**6
    assert figures.response.mean == pytest.approx(9.5e6)


@pytest.mark.parametrize(
    "text",
    ["", "500", "500 iops", "-1iops", "0iops", "500iops:400iops:10s", "500iops:9MB/s:10s",
     "500iops:900iops:0s", "500iops:900iops", "1e9iops", "9" * 400 + "iops", "5iops,,6iops"],
)  # fmt: skip
def test_other_limits_are_refused(text: str) -> None:
    with pytest.raises(UserError, match=r"--cap: "):
        parse(text)


def write(name: str, at_ms: np.ndarray) -> Requests:
    """Write a trace of fewer than 300 requests, which the command takes as recorded."""
    arrival_ns = np.round(at_ms * 1e6).astype(np.int64)
    count = len(arrival_ns)
    columns: dict[str, Any] = {"arrival_ns": arrival_ns, "sector": np.arange(count) * 8}
    columns |= {"sectors": np.full(count, 8), "op": ["read"] * count}
    columns["completion_ns"] = arrival_ns + round(SERVICE_MS * 1e6)
    pl.DataFrame(columns).write_parquet(name)
    return Requests(arrival_ns / 1e6, np.full(count, SERVICE_MS))


def understudy(*words: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, ("consolidate", *words), catch_exceptions=False)


def answered(*words: str) -> Any:
    """Return result.json."""
    done = understudy(*words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Requests, Requests]:
    """Return two VMs: one sends twenty requests, 3 ms apart, each half second; one is steady."""
    monkeypatch.chdir(tmp_path)
    bursts = np.concatenate([500.0 * k + 3.0 * np.arange(20) for k in range(10)])
    return write("web.parquet", bursts), write("mail.parquet", 25.0 * np.arange(190) + 1.1)


@pytest.mark.thorough
def test_a_capped_vm_waits_and_its_neighbour_waits_less(
    traces: tuple[Requests, Requests],
) -> None:
    """The first requests of a burst use the tokens of 0.1 s, and the others come every 10 ms.

    The first request is before the time that both traces have.
    """
    files = ("web.parquet", "mail.parquet", "--queue-depth", "1", "--align", "clock")
    free, capped = answered(*files), answered(*files, "--cap", "web=100iops")
    web, mail = (Requests(one.at - 1.1, one.service) for one in traces)
    web = Requests(web.at[1:], web.service[1:])
    mail = Requests(mail.at[mail.at <= web.at[-1]], mail.service[mail.at <= web.at[-1]])
    passes_ms = 1e3 * np.array(passed_s((web.at / 1e3).tolist(), [1.0] * 199, 100.0, 10.0))
    waited = passes_ms - web.at
    for answer, at, waits in ((free, web.at, 0.0), (capped, passes_ms, waited)):
        times = responses([Requests(at, web.service), mail], [1, 1], 1)
        expected = [float((times[0] + waits).mean()), float(times[1].mean())]
        own = [one["together"]["mean_response_ms"] for one in answer["vms"]]
        assert own == pytest.approx(expected, rel=1e-3)
    assert capped["vms"][0]["cap"]["limits"] == "100iops"
    assert capped["vms"][0]["cap"]["mean_wait_ms"] == pytest.approx(waited.mean(), rel=1e-3)
    assert capped["vms"][1]["cap"] is None
    assert "--cap web=100iops" in capped["inputs"]["command"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--cap", "web=30iops"), "asks for 43.89 requests/s of 30 on average, so its requests"),
        (("--cap", "db=30iops"), "no VM is called db; there are web, mail"),
        (("--cap", "web"), "write NAME=LIMITS once for each VM"),
        (("--cap", "web=1iops", "--cap", "web=2iops"), "write NAME=LIMITS once for each VM"),
        (("--cap", "web=90iops", "--merge", "common"), "--cap: not with --merge common"),
        (("--cap", "web=90iops", "--disk", "cheetah-15k4"), "--cap: not with cheetah-15k4"),
    ],
)
def test_a_cap_that_has_no_answer_is_refused(
    traces: tuple[Requests, Requests], words: tuple[str, ...], message: str
) -> None:
    depth = () if "--disk" in words else ("--queue-depth", "4")
    done = understudy("web.parquet", "mail.parquet", *depth, *words)
    assert done.exit_code == 2, done.output
    assert message in done.output


@pytest.mark.thorough
def test_a_vm_that_lives_on_credits_is_named(traces: tuple[Requests, Requests]) -> None:
    words = ("web.parquet", "--queue-depth", "4", "--cap", "web=30iops:3000iops:60s")
    done = understudy(*words)
    assert done.exit_code == 0, done.output
    assert "lives on the credits of its burst" in done.output
    assert "capped at 30iops:3000iops:60s" in done.output.replace("\n", " ")
