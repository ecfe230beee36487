# SPDX-License-Identifier: MIT
"""Table 5.1 with few steps: this machine and the VM compute the same."""

import os

import pytest
from guests import group

from understudy_devices import reproduce
from understudy_devices.base import processors
from understudy_devices.base.errors import RunFailed
from understudy_devices.papers.compute import TABLE_5_1
from understudy_devices.platforms.vm import computation
from understudy_devices.platforms.vm.computation import Computed
from understudy_devices.reproduce import Asked

pytestmark = group("computation")
FEW = {"steps": 20, "rounds": 1}


def test_four_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pinned ones run on the first set; each has the paper's seconds beside it."""
    everywhere = frozenset(os.sched_getaffinity(0))
    first = frozenset({min(everywhere)})
    monkeypatch.setattr(processors, "groups", lambda cores: [first, everywhere - first])
    found = reproduce.named("table5.1").run(Asked("host", parameters=FEW))
    assert found.figures["sets"][0] == sorted(first)
    for name, places in found.figures["seconds"].items():
        for place, figures in places.items():
            assert figures["paper"] == TABLE_5_1[name][place]
            assert figures["own"][0] > 0
            assert figures["host"][0] >= 0.5 * figures["own"][0]


def test_another_sum_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Computed(1.0, 1.0, "0x1p0")
    monkeypatch.setattr(computation, "in_vm", lambda *_: wrong)
    with pytest.raises(RunFailed, match="computed another sum than this machine"):
        reproduce.named("table5.1").run(Asked("host", parameters=FEW))
