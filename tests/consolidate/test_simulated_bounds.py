# SPDX-License-Identifier: MIT
"""When the judge that simulates stops, and what it concludes, from given 95th percentiles."""

from collections.abc import Callable, Sequence
from math import inf

import pytest
from measured_vms import class_figures, queue_figures

from understudy_devices.base.errors import Unstable
from understudy_devices.consolidation.placement.problem import P95, Device
from understudy_devices.consolidation.placement.simulation import Simulated
from understudy_devices.consolidation.replications import Merge, Replications
from understudy_devices.engine.local import Local
from understudy_devices.native.open_queue import QueueFigures

T = 3.182446305284263  # Student's t of four values, at 97.5 %


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[int], Merge]]:
    """Return a list of calls.  The first VM has 95th percentiles of 99 and 101 ms in turn, the
    second of 50 ms, and the third makes the queue grow without limit after one batch."""
    calls: list[tuple[list[int], Merge]] = []

    def run(
        self: Replications,
        numbers: Sequence[int],
        merge: Merge,
        done: Callable[[], None],
    ) -> list[QueueFigures | Unstable]:
        assert (self.seed, self.engine) == (3, Local(2))
        calls.append((list(numbers), merge))
        if len(merge) == 3 and numbers[0]:
            return [Unstable("unstable", 2.0)]
        return [
            queue_figures(
                class_figures(1, p95_ms=100 + (-1) ** number), *[class_figures(1, p95_ms=50)] * 2
            )
            for number in numbers
        ]

    monkeypatch.setattr(Replications, "_outcomes", run)
    return calls


HALF = T * (4 / 3) ** 0.5 / 2  # of the interval of four replications


@pytest.mark.parametrize(
    ("targets_ms", "batches"),
    [
        ((1000, 1000), 1),
        (((100 + HALF) * 257 / 256 + 1e-6, 1000), 1),  # clearly below
        (((100 + HALF) * 257 / 256 - 0.01, 1000), 2),
        ((100 - HALF - 1e-6, 1000), 1),  # clearly above
        ((100 - HALF + 1e-6, 1000), 2),
        ((1000, 49.99), 1),
        ((100, 49.99), 1),  # one VM above its target is enough
        ((100, 1000), 4),
        ((1000, 50 * 257 / 256), 1),
        ((1000, 50.1), 4),  # a percentile is known to 1/256
    ],
)
def test_batches_continue_until_all_are_clear_or_one_is_above(
    targets_ms: tuple[float, float], batches: int, ran: list[tuple[list[int], Merge]]
) -> None:
    judge = Simulated([None] * 3, targets_ms, 1.5, 3, Local(2))  # type: ignore[list-item]
    verdict = judge(Device("a", 4), (0, 1))
    assert [numbers for numbers, _ in ran] == [
        list(range(4 * i, 4 * i + 4)) for i in range(batches)
    ]
    assert {merge for _, merge in ran} == {(1.5, 1.5)}
    assert verdict[0].mean_ms == 100
    if batches == 1:
        assert verdict[0].most_ms == pytest.approx((100 + HALF) * 257 / 256)
    assert verdict[1] == P95(50, 50 * 257 / 256)


def test_targets_are_those_of_the_vms_on_the_device(ran: list[tuple[list[int], Merge]]) -> None:
    judge = Simulated([None] * 9, [1] * 6 + [1000, 1, 1000], 1, 3, Local(2))  # type: ignore[list-item]
    assert list(judge(Device("a", 4), (6, 8))) == [6, 8]
    assert len(ran) == 1
    judge = Simulated([None] * 9, [100] * 9, 1, 3, Local(2))  # type: ignore[list-item]
    assert judge(Device("a", 4), (1, 4, 7)) == dict.fromkeys((1, 4, 7), P95(inf, inf))
