# SPDX-License-Identifier: MIT
"""What result.json says of a prediction and of a placement, and how far each may be trusted."""

from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest
from measured_vms import MS, class_figures, fitted, queue_figures, run, tenant

from understudy_devices.base.errors import Unstable
from understudy_devices.consolidation import answer
from understudy_devices.consolidation.merge_value import Search, Tried
from understudy_devices.consolidation.placement import answer as placement
from understudy_devices.consolidation.placement.problem import P95, Demand, Device, Problem
from understudy_devices.consolidation.placement.search import FOUND, UNKNOWN, Outcome
from understudy_devices.consolidation.prediction import Effort, Prediction, of_ends
from understudy_devices.consolidation.scenario import Scenario, Tenant
from understudy_devices.consolidation.trust import INTERVALS, of_placement, of_prediction
from understudy_devices.consolidation.vm import VirtualMachine
from understudy_devices.consolidation.what_if import Change
from understudy_devices.measure.trust import Trust
from understudy_devices.show.consolidated.table import sentences


@pytest.fixture
def web(tmp_path: Path) -> Tenant:
    """Return a VM that keeps one server busy: three requests of two pieces in 30 ms."""
    return tenant("web", run(tmp_path / "web", [0, 10, 20], [10, 10, 10], [2, 2, 2]))


@pytest.fixture
def predicted(web: Tenant) -> Prediction:
    figures = [queue_figures(class_figures(time, 3, p95_ms=40)) for time in (10, 20)]
    search = Search(1.0, (Tried(1.0, inf), Tried(2.0, 2.0)), within=True)
    effort = Effort(merge="common", precision=0.1)
    return Prediction(Scenario((web,), 4), effort, (2.0,), (search,), tuple(figures), 1.0)


def test_a_prediction(predicted: Prediction) -> None:
    given = answer.document("understudy", 7, "asked for", [predicted, predicted], [
        Change(None, "depth", 4)
    ])  # fmt: skip
    assert given["inputs"] == {
        "command": "understudy", "seed": 7, "depth": 4, "depth_from": "asked for",
        "depth_overloaded": None, "depth_most": None, "merge": "common", "precision": 0.1,
    }  # fmt: skip
    assert given["device"] == pytest.approx(
        {"servers": 4, "offered_load": 0.25, "load_with_merging": 0.125, "fewest_servers": 2}, abs=1
    )
    assert (given["replications"], given["converged"], given["expected_in_system"]) == (2, False, 1)
    tried = [{"merge_value": 1, "in_system": None}, {"merge_value": 2, "in_system": 2}]
    assert given["searches"] == [{"expected": 1, "within": True, "tried": tried}]
    [other] = given["what_if"]
    assert other.pop("change") == "depth=4"
    assert all(given[name] == value for name, value in other.items())


def test_a_vm_of_a_prediction(predicted: Prediction) -> None:
    [vm] = answer.as_json(predicted)["vms"]
    assert (vm["name"], vm["runs"], vm["requests"], vm["weight"]) == ("web", ["web"], 3, 1)
    assert vm["utilisation"] == pytest.approx(0.25)
    assert vm["alone"].pop("reads")["requests"] == 3
    assert vm["alone"] == pytest.approx({
        "mean_response_ms": 10, "p50_response_ms": 10, "p95_response_ms": 10,
        "p99_response_ms": 10, "requests_per_s": 100, "in_system": 1,
    })  # fmt: skip
    low, high = vm["together"].pop("ci95_ms")
    assert (low + high) / 2 == pytest.approx(15)
    assert high - low == pytest.approx(2 * 12.706 * 5, rel=1e-3)  # Student's t
    assert vm["together"] == pytest.approx({
        "mean_response_ms": 15, "p50_response_ms": 15, "p95_response_ms": 40, "in_system": 3,
        "requests": 1000, "merge_value": 2, "split_ratio": 2, "product_form_ms": 10 / (1 - 1 / 4),
    })  # fmt: skip
    service = vm["service_times"]
    rate = pytest.approx(1 / (5 * MS))
    assert (service["phases"], service["d1"], service["poor"]) == (1, [[rate]], [])
    assert service["d0"] == [[-service["d1"][0][0]]]
    assert service["fitted"]["mean_ms"] == pytest.approx(5)
    assert service["measured"]["mean_ms"] == pytest.approx(5, rel=1e-3)
    assert len(service["measured"]["autocorrelation"]) == 100


def test_one_replication_has_no_interval(predicted: Prediction) -> None:
    one = Prediction(predicted.scenario, Effort(), (1.0,), (), predicted.replications[:1], 1.0)
    assert answer.as_json(one)["vms"][0]["together"]["ci95_ms"] is None


def test_a_row_for_each_vm_in_each_replication(predicted: Prediction) -> None:
    rows = answer.replications(predicted).to_dicts()
    assert rows[1] == {
        "replication": 1, "vm": "web", "requests": 1000, "pieces": 1500, "mean_response_ms": 20,
        "p50_response_ms": 20, "p95_response_ms": 40, "longest_response_ms": 180, "in_system": 3,
    }  # fmt: skip
    assert [row["mean_response_ms"] for row in rows] == [10, 20]


PROBLEM = Problem(
    (Demand("web", "web", 2, 10, alone_ms=5), Demand("mail", "mail", 1, 10, alone_ms=6)),
    (Device("a", 4), Device("b", 8)),
)


def test_a_placement() -> None:
    verdicts = ({1: P95(11, 12)}, {0: P95(9, 10)})
    outcome = Outcome(FOUND, "", (0b10, 0b01), verdicts, 0, 5)
    given: Any = placement.document("understudy", {"seed": 1}, PROBLEM, outcome, Trust(None, ()))
    assert given["inputs"] == {"command": "understudy", "seed": 1}
    assert (given["outcome"], given["reason"], given["conflict"]) == (FOUND, "", [])
    assert (given["vms"], given["simulated_devices"], given["offered_load"]) == (2, 5, 3 / 12)
    a, b = given["devices"]
    assert [(one["name"], one["servers"], one["load"]) for one in (a, b)] == [
        ("a", 4, 0.25), ("b", 8, 0.25),
    ]  # fmt: skip
    assert a["vms"] == [{
        "name": "mail", "load": 0.25, "alone": {"p95_response_ms": 6}, "target_p95_ms": 10,
        "p95_response_ms": 11, "p95_at_most_ms": 12, "p95_ci95_ms": None, "meets_target": False,
        "uncertain": False,
    }]  # fmt: skip
    assert [(one["name"], one["meets_target"]) for one in b["vms"]] == [("web", True)]


def test_no_placement() -> None:
    outcome = Outcome(UNKNOWN, "because", None, (), 0b11, 0)
    given = placement.document("", {}, PROBLEM, outcome, Trust(None, ()))
    assert (given["devices"], given["conflict"]) == ([], ["web", "mail"])
    piled = Outcome(UNKNOWN, "", (0b11, 0), ({0: P95(inf, inf), 1: P95(inf, inf)}, {}), 0, 0)
    given = placement.document("", {}, PROBLEM, piled, Trust(None, ()))
    assert [one["p95_response_ms"] for one in given["devices"][0]["vms"]] == [None, None]
    assert [one["p95_at_most_ms"] for one in given["devices"][0]["vms"]] == [None, None]


def test_with_an_unknown_d_that_may_be_too_small_there_is_no_upper_limit(
    predicted: Prediction,
) -> None:
    def predict(scenario: Scenario) -> Prediction:
        if scenario.servers < 4:
            raise Unstable("unstable", 1.5)
        return replace(predicted, scenario=scenario)

    small, large = (replace(predicted.scenario, servers=servers) for servers in (2, 4))
    both = of_ends([small, large], predict)
    assert (both.scenario.servers, both.overloaded) == (4, 2)
    [web] = both.together
    assert web.limits_ms
    assert web.limits_ms[1] == inf
    assert (
        "how many requests the device serves at once, 2 or more" in of_prediction(both).because[1]
    )
    assert any("with 2 requests would wait ever longer" in line for line in sentences(both))
    assert answer.as_json(both)["vms"][0]["together"]["ci95_ms"][1] is None
    with pytest.raises(Unstable):
        of_ends([small], predict)
    assert of_ends([large, replace(large, servers=9)], predict).other_end


@pytest.mark.parametrize(
    ("merge", "merges"), [(1.0, "merges nothing"), (1.125, "merges up to 1.12 requests")]
)
def test_what_was_never_checked_is_said(web: Tenant, merge: float, merges: str) -> None:
    prediction = Prediction(Scenario((web, web), 4), Effort(), (1.0, merge), (), (), 0)
    trust = of_prediction(prediction)
    assert trust.trusted is None
    assert trust.because == (
        "a run of these VMs together", f"that the device serves 4 at once and {merges}"
    )  # fmt: skip
    most = replace(prediction, scenario=Scenario((web, web), 9))
    trust = of_prediction(replace(prediction, other_end=most))
    assert trust.because[1] == f"that the device serves 4 to 9 at once and {merges}"
    trust = of_placement([web], merge)
    assert trust.trusted is None
    assert trust.because[0] == "a run of VMs together"
    assert trust.because[1].endswith(f"as many requests at once as given and {merges}")
    assert "another sample of the same VM" in INTERVALS


def test_what_is_contradicted_is_said(web: Tenant, tmp_path: Path) -> None:
    """A poor fit and a trace that contradicts the number of servers are both named."""
    poor = Tenant(web.vm, fitted(5, off=1.5))
    odd = Tenant(
        VirtualMachine("odd", (run(tmp_path / "odd", [0], [1], contradiction="too early"),)),
        fitted(5),
    )
    for trust in (
        of_prediction(Prediction(Scenario((web, poor, odd), 4), Effort(), (1.0,), (), (), 0)),
        of_placement([web, poor, odd], 1),
    ):
        assert trust.trusted is False
        assert trust.because[0].startswith("web: fitted poorly: a mean of 5e+06 for 7.49")
        assert trust.because[-1] == "odd: too early"
