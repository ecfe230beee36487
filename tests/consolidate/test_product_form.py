# SPDX-License-Identifier: MIT
"""Product form: the figures printed in ICPE 2011, recomputed from the paper's measurements."""

import pytest

from understudy_devices.consolidation.product_form import (
    expected_queue_length,
    mean_relative_error,
    response_times,
)
from understudy_devices.papers.icpe_2011 import PRODUCT_FORM_ERRORS, QUEUES, SERVERS
from understudy_devices.reproduce.results.product_form import error

# Not as printed, docs/consolidation.md.
OTHERS = {("PM-1", 2): 0.509, ("PM-2", 2): 2.889, ("PM-2", 3): 21.63}


@pytest.mark.parametrize("workload", QUEUES)
def test_expected_queue_lengths_of_table_1(workload: str) -> None:
    alone, _, two, _, three = QUEUES[workload]
    assert expected_queue_length([alone] * 2) == pytest.approx(two, abs=1e-9)
    assert expected_queue_length([alone] * 3) == pytest.approx(three, abs=1e-9)


@pytest.mark.parametrize("workload", PRODUCT_FORM_ERRORS)
@pytest.mark.parametrize("classes", [2, 3])
def test_errors_of_table_5(workload: str, classes: int) -> None:
    printed = PRODUCT_FORM_ERRORS[workload][classes - 2]
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
