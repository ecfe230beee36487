# SPDX-License-Identifier: MIT
"""Product form: the figures printed in ICPE 2011, recomputed from the paper's measurements."""

import pytest

from understudy_devices.consolidation.product_form import (
    expected_queue_length,
    mean_relative_error,
    response_times,
)

SERVERS = 32  # the issue queue of the paper's hypervisor
# Table 1: isolated, expected for two VMs, expected for three.
QUEUES = {
    "PM-1": (11.9, 23.8, 35.7),
    "PM-2": (14.1, 28.2, 42.3),
    "FFSB-1_S": (4.6, 9.2, 13.8),
    "FFSB-1_R": (4.8, 9.6, 14.4),
    "FFSB-2_S": (3.5, 7.0, 10.5),
    "FFSB-2_R": (4.0, 8.0, 12.0),
}
INTERARRIVAL_MS = {
    "PM-1": 0.72,
    "PM-2": 0.81,
    "FFSB-1_S": 3.07,
    "FFSB-1_R": 3.24,
    "FFSB-2_S": 4.36,
    "FFSB-2_R": 3.54,
}
# Table 4 in ms: isolated (three VMs); with two VMs running; with three running.
RESPONSES = {
    "PM-1": ((9.45, 8.49, 7.9), (28.3, 25.4), (47.7, 48.2, 37.8)),
    "PM-2": ((11.5, 11.9, 11.0), (31.1, 30.8), (53.3, 56.0, 43.9)),
    "FFSB-1_S": ((14.8, 13.5, 13.3), (18.4, 16.8), (24.9, 24.5, 25.2)),
    "FFSB-1_R": ((16.4, 15.2, 15.3), (21.5, 20.1), (29.8, 25.6, 28.2)),
    "FFSB-2_S": ((15.4, 15.2, 15.1), (19.9, 20.4), (24.9, 22.3, 23.6)),
    "FFSB-2_R": ((14.6, 13.7, 13.8), (19.6, 19.4), (23.5, 22.9, 23.3)),
}
# Table 5, product form: with two VMs, with three.
ERRORS = {
    "PM-1": (0.46, 18.4),
    "PM-2": (2.26, 64.9),
    "FFSB-1_S": (0.12, 0.06),
    "FFSB-1_R": (0.09, 0.03),
    "FFSB-2_S": (0.03, 0.05),
    "FFSB-2_R": (0.03, 0.04),
}
# Not as printed, docs/consolidation.md.
OTHERS = {("PM-1", 2): 0.509, ("PM-2", 2): 2.889, ("PM-2", 3): 21.63}


def error(workload: str, classes: int) -> float:
    isolated = RESPONSES[workload][0][:classes]
    estimated = response_times(isolated, [1 / INTERARRIVAL_MS[workload]] * classes, SERVERS)
    return mean_relative_error(estimated, RESPONSES[workload][classes - 1])


@pytest.mark.parametrize("workload", QUEUES)
def test_expected_queue_lengths_of_table_1(workload: str) -> None:
    alone, two, three = QUEUES[workload]
    assert expected_queue_length([alone] * 2) == pytest.approx(two, abs=1e-9)
    assert expected_queue_length([alone] * 3) == pytest.approx(three, abs=1e-9)


@pytest.mark.parametrize("workload", ERRORS)
@pytest.mark.parametrize("classes", [2, 3])
def test_errors_of_table_5(workload: str, classes: int) -> None:
    printed = ERRORS[workload][classes - 2]
    ours = error(workload, classes)
    if (workload, classes) in OTHERS:
        assert abs(ours - printed) > 0.01
        assert ours == pytest.approx(OTHERS[workload, classes], rel=0.001)
    else:
        assert ours == pytest.approx(printed, abs=0.01 if printed < 1 else 0.05)


def test_one_class_on_one_server_is_m_m_1() -> None:
    assert response_times([0.25], [3.0], servers=1) == pytest.approx([1.0])


@pytest.mark.parametrize("rate", [32.0, 33.0, 1e6])
def test_a_full_system_counts_as_99_percent(rate: float) -> None:
    assert response_times([1.0], [rate], SERVERS) == pytest.approx([100.0])


def test_just_below_full_is_not_capped() -> None:
    assert response_times([1.0], [31.968], SERVERS) == pytest.approx([1000.0])


@pytest.mark.parametrize(
    ("demands", "rates", "servers", "message"),
    [
        ([1.0, 0.0], [1.0, 1.0], 32, r"demand of class 1 is 0: must be finite and above 0"),
        ([1.0], [float("nan")], 32, "rate of class 0 is nan"),
        ([1.0], [1.0, 2.0], 32, "1 demands and 2 rates"),
        ([], [], 32, "demands of shape"),
        ([1.0], [1.0], 0, "0 servers"),
    ],
)
def test_what_is_no_network(
    demands: list[float], rates: list[float], servers: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        response_times(demands, rates, servers)


def test_an_error_needs_pairs() -> None:
    with pytest.raises(ValueError, match="1 estimates and 2 measurements"):
        mean_relative_error([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="measurement of class 0 is 0"):
        mean_relative_error([1.0], [0.0])
