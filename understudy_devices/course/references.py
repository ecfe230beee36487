# SPDX-License-Identifier: MIT
"""The schedulers and workloads that a specification names, checked when it is read."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from understudy_devices.ask import schedulers
from understudy_devices.ask.policies import KINDS
from understudy_devices.base.catalog import nearest
from understudy_devices.base.errors import UserError
from understudy_devices.course import drive
from understudy_devices.course.draws import Draws
from understudy_devices.course.work import DRAWN, experiments
from understudy_devices.measure.metrics import MORE_MEASURES, PAPER_MEASURES, Measure

MEASURES: dict[str, Measure] = {each.key: each for each in (*PAPER_MEASURES, *MORE_MEASURES)}


def mistake(key: str, name: str, folder: Path, *, hidden: bool) -> Iterator[str]:
    """Yield what is wrong with the name of a reference scheduler."""
    if not name.endswith(".c"):
        if name not in schedulers.core():
            yield f'{key}: unknown scheduler "{name}": {nearest(name, schedulers.core())}'
        return
    if not (folder / name).is_file():
        yield f"{key}: {name} is missing"
    if name.startswith("solution/") and not hidden:
        yield f"{key}: a student's copy has no solution/; make the check hidden"


def policy_mistake(key: str, name: str, part: str) -> Iterator[str]:
    """Yield what is wrong with the name of a reference policy of the page cache."""
    names = KINDS[part].ours()
    if name not in names:
        yield f'{key}: unknown {KINDS[part].words} "{name}": {nearest(name, names)}'


def measure_mistake(key: str, name: str) -> Iterator[str]:
    """Yield what is wrong with the name of a measure."""
    if name not in MEASURES:
        yield f'{key}: unknown measure "{name}": {nearest(name, MEASURES)}'


def workload_mistake(workload: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a workload and its options, which are those of `understudy
    predict`."""
    disk = drive.read(drive.text(Draws(b"any")), DRAWN)
    try:
        experiments(disk, workload, options, "fcfs")
    except UserError as error:
        yield f"workload, options: {error}"
