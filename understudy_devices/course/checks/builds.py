# SPDX-License-Identifier: MIT
"""The file compiles in the sandbox, and declares what it should."""

from collections.abc import Sequence
from typing import Literal

from understudy_devices.base.plain import one_line
from understudy_devices.course.check import Check
from understudy_devices.course.result import Found
from understudy_devices.course.work import Work
from understudy_devices.native import descriptions, registry

WORDS = {
    "scheduler": "scheduler",
    "prefetch": "prefetcher",
    "replacement": "replacement policy",
}


class Kind(Check):
    """A file compiles without errors; the compiler's warnings are shown."""

    file: str
    part: Literal["scheduler", "prefetch", "replacement"] = "scheduler"
    """What the file is."""

    def files(self) -> Sequence[str]:
        """Return the file."""
        return (self.file,)

    def run(self, work: Work) -> Found:
        """Compile the file and read its declaration."""
        if self.part == "scheduler":
            source = registry.source(work.built(self.file))
        else:
            source = work.policy(self.file, self.part).file
        declared = descriptions.describe(source)
        warnings = registry.warnings(source).rstrip().splitlines()
        lines = [f'declares the {WORDS[self.part]} "{declared.name}": {one_line(declared.summary)}']
        return Found(1.0, tuple(lines + (["the compiler warns:", *warnings] if warnings else [])))
