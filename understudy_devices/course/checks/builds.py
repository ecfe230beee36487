# SPDX-License-Identifier: MIT
"""The file compiles in the sandbox, and declares a scheduler."""

from collections.abc import Sequence

from understudy_devices.course.check import Check
from understudy_devices.course.result import Found
from understudy_devices.course.work import Work
from understudy_devices.native import descriptions, registry


class Kind(Check):
    """A scheduler's file compiles without errors; the compiler's warnings are shown."""

    file: str

    def files(self) -> Sequence[str]:
        """Return the file."""
        return (self.file,)

    def run(self, work: Work) -> Found:
        """Compile the file and read its declaration."""
        name = work.built(self.file)
        source = registry.source(name)
        declared = descriptions.describe(source)
        warnings = registry.warnings(source).rstrip().splitlines()
        lines = [f'declares the scheduler "{declared.name}": {declared.summary}']
        return Found(1.0, tuple(lines + (["the compiler warns:", *warnings] if warnings else [])))
