# SPDX-License-Identifier: MIT
"""The answer: a profile that `understudy.device.profile` reads, and how well it predicts."""

from dataclasses import dataclass
from typing import Any

from understudy.base.progress import Report, silent
from understudy.device.profile import DiskProfile
from understudy.profiler import demerit, document, writes
from understudy.profiler.demerit import Check
from understudy.profiler.found import Finding, toml_lines
from understudy.profiler.modelled import ModelTarget
from understudy.profiler.survey import Survey
from understudy.profiler.target import Bench, Target


@dataclass(frozen=True)
class Fitted:
    """What was found of one target, and the checks of it."""

    findings: tuple[Finding, ...]
    capacity_sectors: int
    seed: int
    requests: int
    checks: tuple[Check, ...] = ()

    def to_toml(self) -> str:
        """A profile; confidences and what was not seen are comments."""
        destroyed = any(writes.is_seen(found) for found in self.findings)
        lines = [
            "# SPDX-License-Identifier: MIT",
            f"# Measured by understudy profile --seed {self.seed} with {self.requests} requests; "
            f"fitted with {'reads and writes' if destroyed else 'reads only'}.",
            *(f"# {_said(check)}" for check in self.checks),
            f'summary = "profiled, {self.capacity_sectors} sectors"',
            *toml_lines(self.findings),
        ]
        return "\n".join(lines) + "\n"

    def as_json(self) -> dict[str, Any]:
        """What --json prints."""
        return {
            "capacity_sectors": self.capacity_sectors,
            "seed": self.seed,
            "requests": self.requests,
            "found": {found.key: found.as_json() for found in self.findings},
            "checks": [check.as_json() for check in self.checks],
        }

    def disk(self) -> DiskProfile:
        """The profile as the rest of Understudy has it."""
        return document.parse(self.to_toml())

    def finding(self, key: str) -> Finding | None:
        """With that key, None if nobody looked for it."""
        return next((found for found in self.findings if found.key == key), None)

    def value(self, key: str) -> Any:
        """Of the finding with that key, None if it was not seen."""
        found = self.finding(key)
        return found.value if found else None


def profile(
    target: Target, seed: int = 1, *, destroy_data: bool = False, report: Report = silent
) -> Fitted:
    """Measure a target and fit a profile to it; then check how well it predicts.

    The same seed asks for the same places.  Data are destroyed only if that is said, and
    the target is writable.
    """
    bench = Bench(target, seed)
    survey = Survey(bench, report)
    survey.reads()
    writing = destroy_data and bench.writable
    if writing:
        survey.writes()
    else:
        why = "nothing was written" if bench.writable else "the target can't be written"
        survey.findings += writes.unseen(why)
    report("check", 0.9)
    fitted = Fitted(
        document.complete(survey.findings), bench.capacity_sectors, seed, bench.requests
    )
    return _checked(fitted, bench, writing)


def _checked(fitted: Fitted, bench: Bench, writing: bool) -> Fitted:
    model = ModelTarget.of(fitted.disk(), fitted.capacity_sectors, fitted.seed)
    bench.wait(writes.IDLE_NS)
    checks = demerit.compare(bench, Bench(model, fitted.seed), fitted.seed, writing)
    return Fitted(
        fitted.findings, fitted.capacity_sectors, fitted.seed, fitted.requests, tuple(checks)
    )


def _said(check: Check) -> str:
    return (
        f"{check.workload}: target {check.target_ms:.3f} ms, model {check.model_ms:.3f} ms, "
        f"demerit {check.demerit_ms:.3f} ms ({check.demerit_percent:.1f} %)"
    )
