# SPDX-License-Identifier: MIT
"""The self-check's conclusions, from runs whose answer is known."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pytest
from block_events import FS, WRITE, Event, one_file
from rich.console import Console

from understudy_devices.ask.experiment import Outcome
from understudy_devices.base.errors import UserError
from understudy_devices.campaign import self_check
from understudy_devices.campaign.self_check import ALONE, TOGETHER, as_json, held, plans
from understudy_devices.consolidation.prediction import Effort
from understudy_devices.reproduce.results import consolidation
from understudy_devices.show import self_checked

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("self-check")]

MS = 10**6
SERVERS = 6


@dataclass(frozen=True)
class Ran:
    """The parts of an outcome that the self-check uses."""

    requests: pl.DataFrame
    block_trace: dict[str, bytes]
    facts: dict[str, Any] = field(default_factory=dict)


def traced(bios: list[dict[str, Any]]) -> dict[str, bytes]:
    """Return the kernel's block trace of requests of two bios each, the second back-merged into
    the first."""
    events = []
    for first, second in zip(bios[::2], bios[1::2], strict=True):
        at = Event(0, 0, "Q", first["sector"], 8, also=(WRITE, FS))
        whole = replace(at, sectors=16)
        events += [
            replace(at, time_ns=first["arrival_ns"]),
            replace(at, time_ns=second["arrival_ns"], sector=second["sector"]),
            replace(at, time_ns=second["arrival_ns"] + 1, action="M", sector=second["sector"]),
            replace(whole, time_ns=first["dispatch_ns"] + 2, action="D"),
            replace(whole, time_ns=first["completion_ns"] + 2, action="C"),
        ]
    return {"disk.blktrace.0": one_file(events)}


def ran(vms: tuple[int, ...], requests: int = 3000) -> Ran:
    """Simulate a queue with Poisson arrivals every 5 ms on average and exponential service of 10
    ms.  The first free server takes the next request, which is two bios, the second 1 ms later."""
    rows: list[dict[str, Any]] = []
    for number in vms:
        at = np.random.default_rng(number).exponential(5.0, requests).cumsum()
        draw = np.random.default_rng([number, len(vms)])
        rows += [
            {"owner": number, "at": float(a), "service": float(s)}
            for a, s in zip(at, draw.exponential(10.0, requests), strict=True)
        ]
    free = [0.0] * SERVERS
    bios = []
    for request, row in enumerate(sorted(rows, key=lambda row: row["at"])):
        first = min(range(SERVERS), key=free.__getitem__)
        begun = max(free[first], row["at"] + 1)
        free[first] = begun + row["service"]
        for later, sector in ((0, 0), (1, 8)):
            bios.append(
                {
                    "request_id": request,
                    "arrival_ns": round((row["at"] + later) * MS),
                    "dispatch_ns": round(begun * MS),
                    "completion_ns": round(free[first] * MS),
                    "sector": request * 16 + sector,
                    "sectors": 8,
                    "op": "write",
                    "owner": row["owner"],
                }
            )
    return Ran(pl.DataFrame(bios), traced(bios) if len(vms) == 1 else {})


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[self_check.Held]:
    outcomes = {("PM-1", vms): [cast(Outcome, ran(vms))] for vms in (*ALONE, *TOGETHER)}
    folder: Path = tmp_path_factory.mktemp("held")
    return held(outcomes, SERVERS, Effort(merge=1, replications=6), folder)


def test_what_a_queue_does_is_predicted(found: list[self_check.Held]) -> None:
    """Each VM offers 2 erlangs to six servers: two VMs load two thirds of the servers, and three
    VMs all of them."""
    assert [one.plan.vms for one in found] == [(1, 2), (1, 2, 3)]
    two = found[0]
    assert two.predicted.scenario.offered_load == pytest.approx(4 / 6, rel=0.05)
    assert two.error < 0.1 < two.product_form_error
    for alone_ms, together_ms in zip(two.alone_ms, two.measured_ms, strict=True):
        assert 11 < alone_ms < together_ms


def test_a_request_is_what_the_device_served(found: list[self_check.Held]) -> None:
    [run] = found[0].predicted.scenario.tenants[0].vm.runs
    assert run.requests == 3000
    assert sum(run.sizes[1:]) == 3000 - run.sizes[0]
    assert run.sizes[1] == 3000  # of two blocks
    assert run.service_ns.mean() / MS == pytest.approx(10, rel=0.08)


def test_the_kernel_and_the_throttle_say_the_same_of_those_alone(
    found: list[self_check.Held],
) -> None:
    for one in found:
        assert one.alone_ms == pytest.approx(one.alone_recorded_ms, abs=1e-4)


def test_arrivals_are_held_against_those_alone(found: list[self_check.Held]) -> None:
    for one in found:
        assert one.rate_ratio == pytest.approx([1] * len(one.plan.vms), rel=0.02)
        assert max(one.distance) < 0.05
        assert sum(one.measured_in_system) > sum(one.alone_in_system)


def test_it_is_told(found: list[self_check.Held]) -> None:
    outcomes = {("PM-1", vms): [cast(Outcome, Ran(pl.DataFrame(), {}))] for vms in ALONE}
    document = as_json("understudy", 1, outcomes, found)
    assert [one["vms"] for one in document["held"]] == [[1, 2], [1, 2, 3]]
    assert document["held"][0]["error"] == found[0].error
    console = Console(width=120, record=True)
    self_checked.show(found, console)
    text = console.export_text()
    for words in ("Table 1", "Table 4", "Tables 5 and 6", "Figure 8", "product form"):
        assert words in text
    assert text.count("PM-1 ") == 8
    assert f"3 VMs: predicted means are {found[1].error:.1%} to {found[1].error:.1%} off" in text


def test_whether_it_may_be_trusted(found: list[self_check.Held]) -> None:
    """Means must be within 5 %, or within 10 % where the array is rarely idle."""
    two, three = (replace(one, measured_ms=one.predicted_ms) for one in found)
    right = self_check.trust([two, three])
    assert right.trusted is True
    assert str(right).startswith("checked and within: 2 predictions, each at most 5% off")
    slower = [
        replace(one, measured_ms=[time / 0.92 for time in one.measured_ms]) for one in (two, three)
    ]
    wrong = self_check.trust(slower)
    assert wrong.trusted is False
    assert wrong.because == ("PM-1, VM 1 and 2: 8.0% off; the limit is 5%",)
    document = as_json(
        "understudy", 1, {("PM-1", (1,)): [cast(Outcome, Ran(pl.DataFrame(), {}))]}, slower
    )
    assert document["trusted"] is False
    assert document["because"] == list(wrong.because)


def test_it_is_a_page(found: list[self_check.Held]) -> None:
    outcomes = {("PM-1", vms): [cast(Outcome, Ran(pl.DataFrame(), {}))] for vms in ALONE}
    page = self_checked.render(as_json("understudy", 1, outcomes, found), found)
    assert page.count("<svg") == 2
    assert page.count("</table>") == 5
    assert "PM-1 \u00d73" in page


def test_a_configuration_that_there_is_not() -> None:
    assert len(plans(list(self_check.CONFIGURATIONS))) == 30
    with pytest.raises(UserError, match=r"PM-3: no such configuration; there are PM-1, PM-2, "):
        plans(["PM-3"])


def test_the_papers_tables_beside_ours(found: list[self_check.Held]) -> None:
    """Figures of the paper are those of its configuration and number of VMs."""
    both = ("PM-1", "FFSB-1-S")
    outcomes = {
        (name, vms): [cast(Outcome, ran(vms))] for name in both for vms in (*ALONE, *TOGETHER)
    }
    checks = [
        replace(one, plan=replace(one.plan, configuration=name)) for name in both for one in found
    ]
    tables = {grid.title: dict(grid.blocks[0]) for grid in consolidation.tables(checks, outcomes)}
    responses = tables["Table 4, Figures 9 and 10: mean response times (ms)"]
    assert list(responses) == [f"{name}, {vms} VMs" for name in both for vms in (2, 3)]
    assert responses["PM-1, 3 VMs"][0] == "9.45, 8.49, 7.9"
    assert responses["FFSB-1-S, 2 VMs"][2] == "18.4, 16.8"
    assert responses["PM-1, 2 VMs"][3] == ", ".join(f"{ms:.1f}" for ms in found[0].measured_ms)
    errors = tables["Table 5: relative errors"]["PM-1, 3 VMs"]
    assert (errors[0], errors[2]) == ("0.09", "18.40")
    assert errors[1] == f"{found[1].error:.2f}"
    queues = tables["Table 1: requests in the system"]["FFSB-1-S, 3 VMs"]
    assert (queues[0], queues[2]) == ("12.8", "13.8")
    assert float(queues[1]) == pytest.approx(sum(found[1].measured_in_system), abs=0.06)
    merged = tables["Table 6: splitting and merging"]["PM-1, 3 VMs"]
    assert merged == ("1.01", "1.00", "4.70", "1.00")
    times = tables["Table 3: mean time between arrivals, and mean service time (ms)"]["PM-1"]
    assert (times[0], times[2]) == ("0.72", "8.61")
    assert float(times[1]) == pytest.approx(5, rel=0.05)
    assert float(times[3]) == pytest.approx(10, rel=0.05)
    p95 = tables["Figure 2: 95th percentile of response times (ms)"]
    assert [row[0] for row in p95.values()] == 2 * ["25.5", "238.0", "319.8"]
    assert 30 < float(p95["PM-1, one VM"][1]) < float(p95["PM-1, three VMs"][1])
    gaps = tables["Figure 7: 95th percentile of times between arrivals (ms)"]
    assert float(gaps["FFSB-1-S, one VM"][1]) == pytest.approx(15, rel=0.1)  # -5 ln 0.05
    sizes = tables["Figure 6: share of requests by size in blocks of 4 kB (ours)"]["PM-1"]
    assert sizes[:3] == ("0%", "100%", "0%")
