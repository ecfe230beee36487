# SPDX-License-Identifier: MIT
"""The answer: a profile that `understudy.device.profile` reads, and how well it predicts."""

from dataclasses import dataclass, replace
from typing import Any

from understudy.base.errors import UserError
from understudy.base.progress import Report, silent
from understudy.device.profile import DiskProfile
from understudy.device.target import Target
from understudy.profiler import demerit, document, methods, validation, writes
from understudy.profiler.demerit import Check
from understudy.profiler.found import Finding, toml_lines
from understudy.profiler.modelled import ModelTarget
from understudy.profiler.target import Bench


@dataclass(frozen=True)
class Fitted:
    """What was found of one target by a method, and the checks of it."""

    findings: tuple[Finding, ...]
    capacity_sectors: int
    seed: int
    requests: int
    checks: tuple[Check, ...] = ()
    from_trace: bool = False
    method: str = methods.FULL
    limits: str = ""

    def to_toml(self) -> str:
        """A profile; confidences and what was not seen are comments."""
        destroyed = any(writes.is_seen(found) for found in self.findings)
        made = (
            f"Fitted by understudy profile --trace to {self.requests} requests"
            if self.from_trace
            else f"Measured by understudy profile --method {self.method} --seed {self.seed} "
            f"with {self.requests} requests"
        )
        lines = [
            "# SPDX-License-Identifier: MIT",
            f"# {made}; fitted with {'reads and writes' if destroyed else 'reads only'}.",
            *(f"# {_said(check)}" for check in self.checks),
            f'summary = "profiled, {self.capacity_sectors} sectors"',
            *([f'limits = "{self.limits}"'] if self.limits else []),
            *toml_lines(self.findings),
        ]
        return "\n".join(lines) + "\n"

    def as_json(self) -> dict[str, Any]:
        """What --json prints."""
        return {
            "method": self.method,
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
    target: Target,
    seed: int = 1,
    *,
    destroy_data: bool = False,
    method: str = methods.FULL,
    report: Report = silent,
) -> Fitted:
    """Measure a target and fit a profile to it; then check how well it predicts.

    The same seed asks for the same places.  Data are destroyed only if that is said, and
    the target is writable.
    """
    by = methods.named(method)
    if destroy_data and not by.writes:
        raise UserError(f"--destroy-data: {method} measures no writes; leave it out")
    bench = Bench(target, seed)

    def part(name: str, fraction: float) -> None:
        bench.milestone()
        report(name, fraction)

    writing = destroy_data and bench.writable
    findings = document.complete(by.measure(bench, writing, part))
    fitted = Fitted(
        findings, bench.capacity_sectors, seed, bench.requests, method=method, limits=by.limits
    )
    part("check", 0.9)
    return replace(fitted, checks=_checks(fitted, bench, writing))


def _checks(fitted: Fitted, bench: Bench, writing: bool) -> tuple[Check, ...]:
    seed = fitted.seed
    model = Bench(ModelTarget.of(fitted.disk(), fitted.capacity_sectors, seed), seed)
    bench.wait(writes.IDLE_NS)
    checks = demerit.compare(bench, model, seed, writing)
    checks += validation.compare(bench, model, seed)
    bench.milestone()
    return tuple(checks)


def _said(check: Check) -> str:
    return (
        f"{check.workload}: target {check.target_ms:.3f} ms, model {check.model_ms:.3f} ms "
        f"({check.difference_percent:+.1f} %), "
        f"demerit {check.demerit_ms:.3f} ms ({check.demerit_percent:.1f} %)"
    )
