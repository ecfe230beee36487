# SPDX-License-Identifier: MIT
"""Existing run folders: the figures of their runs, and whether two folders may be compared."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.base.errors import UserError
from understudy_devices.campaign.result import SCHEMA
from understudy_devices.measure.comparison import Comparison
from understudy_devices.measure.metrics import LATE_MAX_PERMILLE, Summary

RESULT = "result.json"
T = TypeVar("T")


@dataclass(frozen=True)
class Kept:
    """The content of a run folder: its inputs and all its runs."""

    folder: Path
    inputs: dict[str, Any]
    runs: tuple[Summary, ...]

    @property
    def platform(self) -> str:
        """Return the platform of the runs."""
        return self.runs[0].platform

    @property
    def disk(self) -> str:
        """Return the disk's name."""
        return str(self.inputs["disk"]["name"])

    @cached_property
    def schedulers(self) -> tuple[str, ...]:
        """Return the schedulers, in the order of the command line."""
        return tuple(dict.fromkeys(run.scheduler for run in self.runs))

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """Return the seeds, in the order of the runs."""
        return tuple(dict.fromkeys(run.seed for run in self.runs))

    def comparison(self, schedulers: Sequence[str], seeds: Sequence[int]) -> Comparison:
        """Return a Comparison of the runs with these schedulers and seeds."""
        chosen = [run for run in self.runs if run.scheduler in schedulers and run.seed in seeds]
        return Comparison(chosen)


def load(folder: Path) -> Kept:
    """Read result.json; raise a UserError of one line if the folder is not a run folder."""
    file = folder / RESULT
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        _refuse(folder, f"not a run folder: it has no {RESULT}{_inside(folder)}")
    except OSError as error:
        _refuse(folder, f"{RESULT}: {error.strerror}")
    except (ValueError, RecursionError):
        _refuse(folder, f"{RESULT} is not JSON; run it again")
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        _refuse(folder, f"{RESULT} is not from a run: its schema is not {SCHEMA}")
    try:
        runs = tuple(Summary.from_json(entry) for entry in document["runs"])
        result = Kept(folder, document["inputs"], runs)
        _ = (result.platform, result.disk, *(result.inputs[key] for key in _compared(result)))
        Comparison(result.runs)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        _refuse(folder, f"{RESULT} is incomplete ({error}); run it again")
    return result


def common(real: Kept, virtual: Kept) -> tuple[list[str], list[int]]:
    """Return the schedulers and the seeds that are in both folders.

    Raise a UserError if the folders can't be compared.
    """
    for key in _compared(real):
        mine, theirs = real.inputs[key], virtual.inputs.get(key)
        if mine != theirs:
            raise UserError(
                f"{key} is {mine} in {real.folder} and {theirs} in {virtual.folder}: they can't be "
                "compared; run one of them again"
            )
    if _is_modelled(real) and real.inputs["disk_digest"] != virtual.inputs["disk_digest"]:
        raise UserError(
            f"the disk is {real.disk} in {real.folder} and {virtual.disk} in {virtual.folder}, or "
            "its profile has changed: run one of them again"
        )
    schedulers = _both("scheduler", real, virtual, real.schedulers, virtual.schedulers)
    return schedulers, _both("seed", real, virtual, real.seeds, virtual.seeds)


def doubts(real: Kept, virtual: Kept) -> Iterator[str]:
    """Yield reasons why a comparison of the folders may mislead, one line each."""
    facts = [result.inputs["disk"].get("facts") or {} for result in (real, virtual)]
    models = [each.get("model") for each in facts]
    if not _is_modelled(real) and None not in models and models[0] != models[1]:
        yield (
            f"{real.disk} is a {models[0]}, and {virtual.disk} stands for a {models[1]}: "
            "the disks themselves may differ"
        )
    names, seeds = common(real, virtual)
    for result in (real, virtual):
        compared = result.comparison(names, seeds)
        if late := [each for each in names if any(run.is_too_late for run in compared.runs(each))]:
            yield (
                f"{result.folder}: more than {LATE_MAX_PERMILLE} of 1,000 requests were late with "
                f"{', '.join(late)}: these runs do not count"
            )
    depths = [result.inputs["depth"] for result in (real, virtual)]
    if depths[0] != depths[1]:
        yield (
            f"{real.folder} has up to {depths[0]} requests on the device at once, "
            f"{virtual.folder} {depths[1]}"
        )


def _is_modelled(result: Kept) -> bool:
    return result.platform != "real"


def _compared(result: Kept) -> list[str]:
    """Return the inputs that must be equal: those of the workload, and the number of requests."""
    workload = WORKLOADS[result.inputs["workload"]]
    own = (declared.column or field for field, declared in workload.declared().items())
    return ["workload", *(key for key in own if key in result.inputs), "requests"]


def _both(what: str, real: Kept, virtual: Kept, mine: Sequence[T], theirs: Sequence[T]) -> list[T]:
    both = [each for each in mine if each in theirs]
    if not both:
        raise UserError(
            f"no {what} is in both: {real.folder} has {_listed(mine)}, "
            f"{virtual.folder} {_listed(theirs)}"
        )
    return both


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(map(str, values))


def _inside(folder: Path) -> str:
    """Return a hint for a message: the names of run folders inside this folder, one per
    platform."""
    folders = sorted(str(file.parent) for file in folder.glob(f"*/{RESULT}"))
    return f"; name one of {', '.join(folders)}" if folders else ""


def _refuse(folder: Path, why: str) -> NoReturn:
    raise UserError(f"{folder}: {why}")
