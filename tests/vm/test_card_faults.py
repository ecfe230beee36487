# SPDX-License-Identifier: MIT
"""Faults of a card: the reference driver survives each, and drivers that do not are named."""

from pathlib import Path

import pytest
from guests import group
from rude_drivers import (
    BELIEVES_KMALLOC,
    BELIEVES_PAGES,
    DIES_UNMAPPED,
    EXERCISE,
    LEAKS_ON_ERROR,
    RIGHT,
    STAYS_ON_ERROR,
    UNMAPS_TOO_EARLY,
    WAITS,
    Rude,
)

from understudy_devices.base.paths import cards_dir
from understudy_devices.cards import specification
from understudy_devices.cards.journal import What
from understudy_devices.referee import faults, run

pytestmark = group("referee")
DRIVERS = cards_dir() / "drivers"
SEED = 1


@pytest.mark.parametrize(
    ("card", "kind"),
    [
        pytest.param(card, kind, marks=[pytest.mark.slow] * ((card, kind) != ("copier", "ones")))
        for card in ("copier", "zach1")
        for kind in faults.possible(specification.load(card))
    ],
)
def test_the_reference_driver_survives(card: str, kind: str) -> None:
    setting = run.Setting(1, SEED, faults.drawn(kind, SEED))
    outcome = run.run(run.prepared(card, DRIVERS / f"{card}_driver.c"), setting)
    assert outcome.findings == ()
    assert outcome.notes == ()
    faults_seen = sum(outcome.accesses["what"] == What.FAULT)
    assert faults_seen > 8 if kind == "request" else faults_seen == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("driver", "kind"),
    [
        (WAITS, "interrupt"),
        (UNMAPS_TOO_EARLY, "stall"),
        (BELIEVES_KMALLOC, "request"),
        (BELIEVES_PAGES, "request"),
        (DIES_UNMAPPED, "request"),
        (LEAKS_ON_ERROR, "request"),
        (STAYS_ON_ERROR, "request"),
    ],
    ids=["waits", "unmaps", "believes", "believes_pages", "unmapped", "leaks", "stays"],
)
def test_a_driver_that_does_not_survive(driver: Rude, kind: str, tmp_path: Path) -> None:
    """It has no finding without the fault."""
    source, exercise = tmp_path / "rude.c", tmp_path / "exercise"
    source.write_text(driver.source())
    exercise.write_text(EXERCISE)
    fault = faults.Fault(kind, 1)
    outcome = run.run(run.prepared("copier", source, exercise), run.Setting(1, SEED, fault))
    assert driver.finding in {finding.rule for finding in outcome.findings}


@pytest.mark.slow
def test_a_stall_lasts_while_a_driver_polls(tmp_path: Path) -> None:
    """The card that works in the trap of a driver's polling (`never_sleeps`) stalls too."""
    source, exercise = tmp_path / "rude.c", tmp_path / "exercise"
    source.write_text(RIGHT["polls_locked"].source())
    exercise.write_text(EXERCISE)
    setting = run.Setting(1, SEED, faults.Fault("stall", 1))
    outcome = run.run(run.prepared("copier", source, exercise), setting)
    what, ns = outcome.accesses["what"], outcome.accesses["ns"]
    [fault] = ns[what == What.FAULT]
    transfers = ns[(what == What.DMA_READ) & (ns > fault)]
    assert transfers[0] - fault >= 3_000_000_000
