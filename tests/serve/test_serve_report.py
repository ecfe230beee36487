# SPDX-License-Identifier: MIT
"""The text of a served disk's report."""

import pytest

from understudy_devices.native.timed_disk import Lateness
from understudy_devices.serve import report


def lateness(service_late_ns: float, timed: int = 10) -> Lateness:
    return Lateness(
        requests=20,
        late=5,
        mean_ns=1500.0,
        p50_ns=1000,
        p99_ns=2_000_000,
        max_ns=3_000_000,
        timed=timed,
        service_ns=4e6,
        service_late_ns=service_late_ns,
    )


def test_all_of_it() -> None:
    assert dict(report.lines(lateness(100_000), 1.0)) == {
        "requests": "20",
        "lateness": "mean 1.5 us, p50 1.0, p99 2,000.0, at most 3,000.0",
        "late": "5 (25.00%) whose data came after that",
        "mean service": "4.000 ms and 2.50% more, of the 10 that take 1 ms or longer",
    }


def test_without_long_requests_there_is_no_service() -> None:
    assert list(dict(report.lines(lateness(0, timed=0), 1.0))) == ["requests", "lateness", "late"]


@pytest.mark.parametrize(("scale", "message"), [(1.0, "--scale 3 "), (2.0, "--scale 6 ")])
def test_what_is_too_late_is_said_with_a_k_that_holds(scale: float, message: str) -> None:
    """8.8 % at k = 1 is 2.9 % at k = 3."""
    lines = dict(report.lines(lateness(0.088 * 4e6), scale))
    assert message in lines["too late"]
