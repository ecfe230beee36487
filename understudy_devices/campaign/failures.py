# SPDX-License-Identifier: MIT
"""Why schedulers failed.  Of a scheduler's failing runs the first in order counts, and not the one
that fails first, which depends on the load of the machine."""


class Failures:
    """The failures of runs that are carried out in parallel, in any order."""

    def __init__(self) -> None:
        """Start without failures."""
        self._of: dict[str, dict[int, str]] = {}

    def before(self, scheduler: str, place: int) -> str | None:
        """Return why an earlier run of the scheduler failed; then this run decides nothing."""
        failed = dict(self._of.get(scheduler, {}))
        first = min(failed, default=place)
        return failed[first] if first < place else None

    def add(self, scheduler: str, place: int, why: str) -> None:
        """Store why the run at this place failed."""
        self._of.setdefault(scheduler, {})[place] = why

    def first(self) -> dict[str, str]:
        """Return the reason of each scheduler's first failing run, in the order of those runs."""
        firsts = {name: min(failed.items()) for name, failed in self._of.items()}
        return {name: why for name, (_, why) in sorted(firsts.items(), key=lambda one: one[1])}
