# SPDX-License-Identifier: MIT
"""The default method: measures each part of the drive with its own probe (probes/survey.py)."""

from understudy_devices.base.progress import Report
from understudy_devices.profiler.findings.finding import Finding
from understudy_devices.profiler.probes import writes
from understudy_devices.profiler.probes.survey import Survey
from understudy_devices.profiler.targets.bench import Bench

LIMITS = ""
WRITES = True


def measure(bench: Bench, writing: bool, report: Report) -> list[Finding]:
    """Measure reads, and also writes if `writing`."""
    survey = Survey(bench, report)
    survey.reads()
    if writing:
        survey.writes()
        return survey.findings
    why = "nothing was written" if bench.writable else "the target can't be written"
    return survey.findings + writes.unseen(why)
