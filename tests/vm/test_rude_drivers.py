# SPDX-License-Identifier: MIT
"""The referee names what a driver does wrong to the PCI bus and to the kernel, and does not blame
right drivers (tests/rude_drivers.py).
"""

import re
from pathlib import Path

import pytest
from guests import group
from rude_drivers import EXERCISE, REQUESTS_NOT, RIGHT, WRONG, Rude

from understudy_devices.cards import specification
from understudy_devices.cards.register_log import lines
from understudy_devices.referee import run

pytestmark = group("referee")
TOGETHER = (
    "keeps_region",
    "keeps_mapping",
    "keeps_enabled",
    "keeps_number",
    "keeps_memory",
    "says_none",
    "copies_locked",
    "copies_too_much",
)
"""Mistakes that a driver can make at once, which the quick tests include."""


HOLDING = f"""#!/bin/sh
(
	exec 3< /dev/copier0
	until [ -e /tmp/said ]; do
		sleep 0.1
	done
	sleep 1
) &
{EXERCISE}"""
"""A process keeps the device open for a second after the first attempt to unload the driver, whose
messages go to /tmp/said."""


def ran(folder: Path, rude: Rude, cpus: int = 1, exercise_text: str = EXERCISE) -> run.Outcome:
    """Run the driver with an exercise."""
    source, exercise = folder / "rude.c", folder / "exercise"
    source.write_text(rude.source())
    exercise.write_text(exercise_text)
    return run.run(run.prepared("copier", source, exercise), run.Setting(cpus, 1))


def rules(outcome: run.Outcome) -> set[str]:
    """Return the names of the findings."""
    return {finding.rule for finding in outcome.findings}


def test_eight_mistakes_at_once(tmp_path: Path) -> None:
    """Each has its own name, and the kernel's log has the details."""
    edits = tuple(edit for name in TOGETHER for edit in WRONG[name].edits)
    outcome = ran(tmp_path, Rude(None, edits))
    assert rules(outcome) == {str(WRONG[name].finding) for name in TOGETHER}
    texts = {finding.rule: finding.text for finding in outcome.findings}
    assert re.match(r"/proc/devices: \d+ kept", texts["left in the kernel"])
    assert re.fullmatch(r"\d+ pieces allocated in operate", texts["memory leaked"])
    assert texts["region not released"] == 'BAR 0 is still requested by "own"'
    assert re.fullmatch(
        r"copier_write\+\S+ \[rude\] calls _copy_from_user under a spin lock.*",
        texts["sleeping in atomic context"],
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in WRONG if name not in TOGETHER])
def test_a_mistake_is_named(name: str, tmp_path: Path) -> None:
    """Each wrong driver is the reference driver with one change."""
    assert WRONG[name].finding in rules(ran(tmp_path, WRONG[name]))


def test_a_driver_in_use_is_unloaded_later(tmp_path: Path) -> None:
    """A module that is still in use when it is to be unloaded is no mistake."""
    assert ran(tmp_path, Rude(None, ()), exercise_text=HOLDING).findings == ()


def test_a_bar_that_is_not_requested_is_noted(tmp_path: Path) -> None:
    outcome = ran(tmp_path, REQUESTS_NOT)
    assert outcome.findings == ()
    assert {note.rule for note in outcome.notes} == {"BAR not requested"}


@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_driver_has_no_finding(name: str, tmp_path: Path) -> None:
    outcome = ran(tmp_path, RIGHT[name])
    assert outcome.findings == ()
    log = list(lines(specification.load("copier"), outcome.accesses))
    assert any("config store 0x04" in line and "bus mastering" in line for line in log)
