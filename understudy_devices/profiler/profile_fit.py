# SPDX-License-Identifier: MIT
"""Measure a target: the result is a profile that `device.profile` reads, and how well
the profile predicts.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.progress import Report, silent
from understudy_devices.device import table
from understudy_devices.device.check import Check
from understudy_devices.device.profile import DiskProfile
from understudy_devices.device.target import Target
from understudy_devices.profiler import checks, duration, methods
from understudy_devices.profiler.checks import Compared
from understudy_devices.profiler.duration import NS_PER_MINUTE, Duration
from understudy_devices.profiler.findings import document
from understudy_devices.profiler.findings.finding import Finding, toml_lines
from understudy_devices.profiler.methods import Method
from understudy_devices.profiler.probes import kind, writes
from understudy_devices.profiler.targets.bench import NEVER_NS, Bench, TimeUp
from understudy_devices.profiler.targets.model import ModelTarget

CHECKS_BEGIN = 0.75  # of the time


@dataclass(frozen=True)
class Fitted:
    """The findings of a method about one target, and the checks of the fitted model."""

    findings: tuple[Finding, ...]
    capacity_sectors: int
    seed: int
    requests: int
    compared: tuple[Compared, ...] = ()
    from_trace: bool = False
    method: str = methods.FULL
    limits: str = ""

    @property
    def checks(self) -> tuple[Check, ...]:
        """Return the check of each workload."""
        return tuple(each.check for each in self.compared)

    def to_toml(self) -> str:
        """Return the profile as TOML; comments have the confidences, and the keys that were not
        seen.
        """
        destroyed = any(writes.is_seen(finding) for finding in self.findings)
        origin = (
            f"Fitted by understudy profile --trace to {self.requests} requests"
            if self.from_trace
            else f"Measured by understudy profile --method {self.method} --seed {self.seed} "
            f"with {self.requests} requests"
        )
        lines = [
            "# SPDX-License-Identifier: MIT",
            f"# {origin}; fitted with {'reads and writes' if destroyed else 'reads only'}.",
            f'summary = "profiled, {self.capacity_sectors} sectors"',
            *([f'limits = "{self.limits}"'] if self.limits else []),
            *toml_lines(self.findings),
            *(line for check in self.checks for line in check.toml_lines()),
        ]
        return "\n".join(lines) + "\n"

    def files(self, stem: str) -> dict[str, str]:
        """Return the texts of the profile's files by file name: long tables, and the TOML that
        refers to them.
        """
        tables = {
            each.key: f"{stem}-{each.name}.csv"
            for each in self.findings
            if isinstance(each.value, str) and each.value.count("\n") > table.LONG
        }
        short = [replace(each, value=tables.get(each.key, each.value)) for each in self.findings]
        texts = {name: str(self.value(key)) for key, name in tables.items()}
        return texts | {f"{stem}.toml": replace(self, findings=tuple(short)).to_toml()}

    def as_json(self) -> dict[str, Any]:
        """Return the data that --json prints."""
        return {
            "method": self.method,
            "capacity_sectors": self.capacity_sectors,
            "seed": self.seed,
            "requests": self.requests,
            "found": {finding.key: finding.as_json() for finding in self.findings},
            "checks": [check.as_json() for check in self.checks],
        }

    def disk(self) -> DiskProfile:
        """Return the profile as a DiskProfile."""
        return document.parse(self.to_toml())

    def finding(self, key: str) -> Finding | None:
        """Return the finding with that key; None if no probe looked for it."""
        return next((each for each in self.findings if each.key == key), None)

    def value(self, key: str) -> Any:
        """Return the value of the finding with that key; None if it was not seen."""
        finding = self.finding(key)
        return finding.value if finding else None


def profile(
    target: Target,
    seed: int = 1,
    *,
    destroy_data: bool = False,
    method: str = methods.FULL,
    minutes: float | None = None,
    as_disk: bool = False,
    report: Report = silent,
    told: Callable[[Duration], None] = lambda _: None,
) -> Fitted:
    """Measure a target, fit a profile to it, then check how well the profile predicts.

    The seed determines the sectors.  Data are destroyed only with `destroy_data`, and only if the
    target is writable.  `minutes` limits the measurement on the target's clock: the most important
    parts are measured first, and a part for which no time is left becomes "not seen".  A target
    that is not a magnetic disk is refused unless `as_disk` is set.  As soon as the expected
    duration is computed, `told` is called with it.
    """
    by = methods.named(method)
    if destroy_data and not by.writes:
        raise UserError(f"--destroy-data: {method} measures no writes; leave it out")
    bench = Bench(target, seed)

    def part(name: str, fraction: float) -> None:
        bench.milestone()
        report(name, fraction)

    report("kind", 0.0)
    disk_kind = kind.measure(bench)
    if not as_disk:
        disk_kind.refuse_others()
    writing = destroy_data and bench.writable
    told(duration.of(disk_kind.read_ns, method, minutes, writing=writing))
    end_ns = NEVER_NS if minutes is None else round(minutes * NS_PER_MINUTE)
    findings = document.complete(_measured(by, bench, writing, part, end_ns))
    fitted = Fitted(
        findings, bench.capacity_sectors, seed, bench.requests, method=method, limits=by.limits
    )
    model = Bench(ModelTarget.of(fitted.disk(), fitted.capacity_sectors, seed), seed)

    def check(name: str, fraction: float) -> None:
        part(name, CHECKS_BEGIN + (1 - CHECKS_BEGIN) * fraction)

    workloads = checks.WORKLOADS if writing else checks.READS
    number = checks.affordable(len(workloads), end_ns - bench.now_ns, disk_kind.read_ns)
    more = checks.MORE if minutes is None else 1
    compared = checks.compare(bench, model, seed, workloads, check, number, more)
    bench.milestone()
    return replace(fitted, compared=compared)


def _measured(by: Method, bench: Bench, writing: bool, part: Report, end_ns: int) -> list[Finding]:
    """Run the method; stop it early enough for the checks."""
    bench.deadline_ns = NEVER_NS if end_ns == NEVER_NS else round(CHECKS_BEGIN * end_ns)
    try:
        return by.measure(bench, writing, part)
    except TimeUp:
        raise RunFailed(
            f"--minutes: {end_ns / NS_PER_MINUTE:g} are too few to find rotation and seeks of this "
            "drive; give it more"
        ) from None
    finally:
        bench.deadline_ns = NEVER_NS
