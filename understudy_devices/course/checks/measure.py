# SPDX-License-Identifier: MIT
"""A figure of the scheduler, relative to a reference scheduler's, on drawn disks and seeds.

Student and reference run with the same disks and seeds, so their ratios are compared in pairs.  The
mean is over the disks; its 95 % interval is over the seeds, since the disks are the same for all
seeds.  A bound counts as missed only if the interval lies beyond it: chance costs no points.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from understudy_devices.ask.policies import KINDS, Policy
from understudy_devices.course.check import Check, Options
from understudy_devices.course.references import (
    MEASURES,
    measure_mistake,
    mistake,
    policy_mistake,
    workload_mistake,
)
from understudy_devices.course.result import MISSED, Found
from understudy_devices.course.work import Work
from understudy_devices.measure.comparison import Estimate, estimate
from understudy_devices.measure.metrics import Summary

Subject = tuple[str, str | None, Mapping[str, Policy]]
"""A scheduler, the submission's file that is run, and policies of the page cache."""

FORGIVEN = 0.1
"""The largest half of an interval that counts, as a fraction of the mean."""

Ratio = Annotated[float, Field(gt=0, le=1000)]


class Kind(Check):
    """Full points if the ratio to the reference is at most `at_most`, none from `none_from` on."""

    file: str
    part: Literal["scheduler", "prefetch", "replacement"] = "scheduler"
    """What the file is."""
    against: str
    """The reference, of the same part: one of the project, or for a scheduler a .c file in the
    assignment's folder."""
    scheduler: str = "clook"
    """The scheduler that a prefetcher or a replacement policy is measured with."""
    workload: str
    options: Options
    """Options of `understudy predict`, with underscores."""
    measure: str = "mean_response_ms"
    at_most: Ratio
    """The bound of student / reference (for a throughput: reference / student)."""
    none_from: Ratio | None = None
    """From this ratio on there are no points; between the bounds the points fall evenly."""
    bounds: Annotated[dict[str, Ratio], Field(default_factory=dict)]
    """Bounds of further measures; if one is missed, there are no points."""
    disks: Annotated[int, Field(ge=1, le=100)] = 1
    """Drawn disks; the first one of a public check is the student's own."""
    seeds: Annotated[int, Field(ge=2, le=100)] = 4
    held_back: bool = False
    """Whether all students have the same disks and seeds, which nobody knows: for a contest."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.none_from is not None and self.none_from <= self.at_most:
            raise PydanticCustomError("wrong", "none_from is not above at_most")
        if self.held_back and not self.hidden:
            raise PydanticCustomError("wrong", "held_back needs hidden = true")
        return self

    def files(self) -> Sequence[str]:
        """Return the file."""
        return (self.file,)

    def mistakes(self, folder: Path) -> Iterator[str]:
        """Yield what is wrong with names and options."""
        if self.part == "scheduler":
            yield from mistake("against", self.against, folder, hidden=self.hidden)
        else:
            yield from policy_mistake("against", self.against, self.part)
            yield from mistake("scheduler", self.scheduler, folder, hidden=self.hidden)
        for key, name in (("measure", self.measure), *(("bounds", each) for each in self.bounds)):
            yield from measure_mistake(key, name)
        yield from workload_mistake(self.workload, self.options)

    def told(self, work: Work) -> Mapping[str, Any]:
        """Return the command that measures the same on the student's disk."""
        typed = " ".join(
            f"--{key.replace('_', '-')} {value}" for key, value in self.options.items()
        )
        line = f"understudy predict --disk disk.toml --workload {self.workload} {typed}"
        if self.part == "scheduler":
            return {
                "command": f"{line} --schedulers ./{self.file},{self.against} --seeds {self.seeds}"
            }
        chosen = f"--schedulers {self.scheduler} --seeds {self.seeds}"
        return {
            "command": f"{line} {chosen} --{self.part} ./{self.file}",
            "reference": f"{line} {chosen} --{self.part} {self.against}",
        }

    def run(self, work: Work) -> Found:
        """Measure on every disk with every seed."""
        mine, reference = self._subjects(work)
        if self.held_back:
            draws = work.keys.everyone.child(f"check {self.name}")
        else:
            draws = work.draws(self.name, hidden=self.hidden)
        seeds = [draws.seed(str(number)) for number in range(self.seeds)]
        pairs: list[list[tuple[Summary, Summary]]] = [[] for _ in seeds]
        for number in range(self.disks):
            own = number == 0 and not self.hidden
            disk = work.disk if own else work.drawn(draws.child(f"disk {number}"))
            runs = [
                work.summaries(disk, self.workload, self.options, name, seeds, file, policies)
                for name, file, policies in (mine, reference)
            ]
            for of_seed, pair in zip(pairs, zip(*runs, strict=True), strict=True):
                of_seed.append(pair)
        return self._judged(pairs)

    def _subjects(self, work: Work) -> tuple[Subject, Subject]:
        """Return what is run: the student's, and the reference."""
        if self.part == "scheduler":
            return (
                (work.scheduler(self.file), self.file, {}),
                (work.reference(self.against), None, {}),
            )
        return (
            (self.scheduler, self.file, {self.part: work.policy(self.file, self.part)}),
            (self.scheduler, None, {self.part: KINDS[self.part].of_ours(self.against)}),
        )

    def _judged(self, pairs: Sequence[Sequence[tuple[Summary, Summary]]]) -> Found:
        ratios = _ratios(pairs, self.measure)
        found = estimate(ratios)
        figures: dict[str, Any] = {"value": ratios, "valid": True}
        all_mine = [run.value(MEASURES[self.measure]) for of_seed in pairs for run, _ in of_seed]
        mine = sum(all_mine) / len(all_mine)
        lines = [
            f"{self._words(self.measure, found, self.at_most)}; "
            f"yours is {mine:.4g} {MEASURES[self.measure].unit} on average"
        ]
        share = self._share(found)
        for measure, bound in sorted(self.bounds.items()):
            more = estimate(_ratios(pairs, measure))
            missed = _missed(more, bound)
            lines.append(self._words(measure, more, bound) + (MISSED if missed else ""))
            if missed:
                share, figures["valid"] = 0.0, False
        return Found(share, tuple(lines), figures=figures)

    def _share(self, found: Estimate) -> float:
        if not _missed(found, self.at_most):
            return 1.0
        if self.none_from is None:
            return 0.0
        return max(0.0, (self.none_from - found.mean) / (self.none_from - self.at_most))

    def _words(self, measure: str, found: Estimate, bound: float) -> str:
        what = f"{MEASURES[measure].label}, as a multiple of {self.against}'s"
        if not MEASURES[measure].higher_is_better:
            return f"{what}: {found.mean:.3f} ± {found.half_width:.3f}, expected at most {bound:g}"
        half_width = (found.half_width or 0.0) / found.mean**2  # of the inverse, to first order
        return f"{what}: {1 / found.mean:.3f} ± {half_width:.3f}, expected at least {1 / bound:.3g}"


def _ratios(pairs: Sequence[Sequence[tuple[Summary, Summary]]], key: str) -> list[float]:
    """Return the mean ratio over the disks, for each seed."""
    return [sum(_ratio(pair, key) for pair in of_seed) / len(of_seed) for of_seed in pairs]


def _ratio(pair: tuple[Summary, Summary], key: str) -> float:
    measure = MEASURES[key]
    mine, reference = (run.value(measure) for run in pair)
    return reference / mine if measure.higher_is_better else mine / reference


def _missed(found: Estimate, bound: float) -> bool:
    """Return whether the whole interval lies beyond the bound; a submission whose figures vary
    wildly is not forgiven for it.
    """
    return found.mean - min(found.half_width or 0.0, FORGIVEN * found.mean) > bound
