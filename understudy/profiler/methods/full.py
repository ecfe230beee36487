# SPDX-License-Identifier: MIT
"""Every part of the drive by a probe of its own (survey.py); the default."""

from understudy.base.progress import Report
from understudy.profiler import writes
from understudy.profiler.found import Finding
from understudy.profiler.survey import Survey
from understudy.profiler.target import Bench

LIMITS = ""
WRITES = True


def measure(bench: Bench, writing: bool, report: Report) -> list[Finding]:
    """Reads, and writes if they are allowed."""
    survey = Survey(bench, report)
    survey.reads()
    if writing:
        survey.writes()
        return survey.findings
    why = "nothing was written" if bench.writable else "the target can't be written"
    return survey.findings + writes.unseen(why)
