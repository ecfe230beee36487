# SPDX-License-Identifier: MIT
"""How long a measurement will take, on the target's clock."""

from dataclasses import dataclass

from understudy_devices.profiler import methods

NS_PER_MINUTE = 60 * 10**9

# The smallest and the largest cost on the detailed drives, in thousands of random reads.
READS = {methods.FULL: (40, 90), "perform-2010": (140, 220), "sigcse-2006": (55, 100)}
MORE_READS = (40, 100)  # for a method that a user added
WRITES = (30, 80)


@dataclass(frozen=True)
class Duration:
    """The duration in minutes.

    If `limited`, the measurement ends after `most` minutes, even if some parts are not measured
    yet.
    """

    least: float
    most: float
    limited: bool

    def said(self) -> str:
        """Return the duration as a sentence."""
        if self.limited:
            return f"takes {self.most:.3g} minutes of the drive's time, what matters most first"
        return (
            f"takes about {self.least:.2g} to {self.most:.2g} minutes of the drive's time; "
            "--minutes N limits it to what matters most"
        )


def of(read_ns: float, method: str, minutes: float | None, *, writing: bool) -> Duration:
    """Compute the duration from the mean time of a random read."""
    least, most = (
        (reads + more * writing) * 1000 * read_ns / NS_PER_MINUTE
        for reads, more in zip(READS.get(method, MORE_READS), WRITES, strict=True)
    )
    if minutes is not None and minutes < most:
        return Duration(min(least, minutes), minutes, limited=True)
    return Duration(least, most, limited=False)
