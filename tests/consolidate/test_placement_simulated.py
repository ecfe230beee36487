# SPDX-License-Identifier: MIT
"""The judge that simulates: how many replications it runs, and its verdicts."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from test_consolidate import SERVICE_MS, write

from understudy_devices.base.errors import Unstable
from understudy_devices.consolidation.fit import fit
from understudy_devices.consolidation.placement.problem import Device, Verdict
from understudy_devices.consolidation.placement.simulation import BATCH, MOST, Simulated
from understudy_devices.consolidation.replications import Merge, Replications
from understudy_devices.consolidation.scenario import Tenant
from understudy_devices.consolidation.vm import Reduction, read
from understudy_devices.engine.local import Local
from understudy_devices.native.open_queue import QueueFigures

DEVICE = Device("a", 4)
EASY_MS = 1000.0


@pytest.fixture(scope="module")
def tenants(tmp_path_factory: pytest.TempPathFactory) -> list[Tenant]:
    """Return two VMs that keep 2 and 1 servers busy, with the same service times."""
    folder = tmp_path_factory.mktemp("tenants")
    times = np.random.default_rng(5).exponential(SERVICE_MS * 1e6, 3000)
    fitted = fit(times)
    pair = []
    for seed, gap_ms in enumerate((5.0, 10.0)):
        trace = write(folder / f"vm{seed}.parquet", seed, int(20_000 / gap_ms), gap_ms)
        pair.append(Tenant(read(f"vm{seed}", trace, folder / f"{seed}", Reduction()), fitted))
    return pair


@pytest.fixture
def replicated(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which the numbers of all simulated replications are appended."""
    numbers: list[int] = []
    run = Replications._outcomes

    def spied(
        self: Replications,
        which: Sequence[int],
        merge: Merge,
        done: Callable[[], None],
        part: float | None = None,
    ) -> list[QueueFigures | Unstable]:
        numbers.extend(which)
        return run(self, which, merge, done, part)

    monkeypatch.setattr(Replications, "_outcomes", spied)
    return numbers


def judged(tenants: list[Tenant], *targets_ms: float, merge: float = 1) -> Verdict:
    return Simulated(tenants, targets_ms, merge, seed=1, engine=Local(2))(DEVICE, (0, 1))


def test_what_is_clear_takes_one_batch(tenants: list[Tenant], replicated: list[int]) -> None:
    verdict = judged(tenants, EASY_MS, EASY_MS)
    assert replicated == list(range(BATCH))
    assert list(verdict) == [0, 1]
    for figure in verdict.values():
        assert 1.5 * SERVICE_MS < figure.mean_ms < figure.most_ms < 10 * SERVICE_MS
    replicated.clear()
    judged(tenants, EASY_MS, SERVICE_MS)
    assert replicated == list(range(BATCH))


def test_what_stays_open_is_above(tenants: list[Tenant], replicated: list[int]) -> None:
    """The target equals the mean of the 95th percentiles."""
    target_ms = judged(tenants, EASY_MS, 0.0)[0].mean_ms
    for _ in range(3):  # the first batch has another mean than all replications
        replicated.clear()
        figure = judged(tenants, target_ms, EASY_MS)[0]
        target_ms = figure.mean_ms
    assert replicated == list(range(MOST))
    assert figure.most_ms > target_ms


def test_more_replications_are_more_certain(tenants: list[Tenant]) -> None:
    first = judged(tenants, EASY_MS, EASY_MS)[0]
    later = judged(tenants, first.mean_ms, EASY_MS)[0]
    assert later.most_ms / later.mean_ms < first.most_ms / first.mean_ms


def test_merging_shortens_and_company_lengthens(tenants: list[Tenant]) -> None:
    together = judged(tenants, EASY_MS, EASY_MS)[0].mean_ms
    merged = judged(tenants, EASY_MS, EASY_MS, merge=2)[0].mean_ms
    alone = Simulated(tenants, [EASY_MS] * 2, 1, seed=1, engine=Local(2))(DEVICE, (0,))[0].mean_ms
    assert alone < 0.98 * together
    assert merged < 0.98 * together


def test_requests_that_pile_up(tenants: list[Tenant], monkeypatch: pytest.MonkeyPatch) -> None:
    def unstable(*_: object) -> list[QueueFigures | Unstable]:
        return [Unstable("unstable", 2.0)]

    monkeypatch.setattr(Replications, "_outcomes", unstable)
    assert {figure.most_ms for figure in judged(tenants, EASY_MS, EASY_MS).values()} == {
        float("inf")
    }
