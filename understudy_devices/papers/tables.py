# SPDX-License-Identifier: MIT
"""The papers' measurements: Tables 2 and 3 (PERFORM 2010 section 6; Jones 2010 Tables 4.1 and 4.2).

Two of the papers' three schedulers, deadline and cfq, have been removed from the kernel.
mq-deadline is the direct successor of deadline.  This project's cfq was written from what is known
about the original cfq.
"""

from dataclasses import dataclass

from understudy_devices.measure.comparison import ranks
from understudy_devices.measure.metrics import PAPER_MEASURES, Measure

PAPERS_DISK = "cheetah-15k4"

# While the disk serves a request, the papers' kernel fetches the next request from the scheduler.
# The kernel records time stamps outside of the scheduler.  So the papers' service time is the
# device time of this project (docs/decisions/0055-two-at-once.md).
AT_ONCE = 2
MEASURES = (
    Measure("mean_device_ms", "mean service", "ms"),
    Measure("var_device_ms2", "variance service", "ms²"),
    *PAPER_MEASURES[2:],
)

# For each of the papers' schedulers, the schedulers that can replace it, the best first.
STAND_INS = {"cats": ("cats",), "deadline": ("mq-deadline", "deadline"), "cfq": ("cfq",)}
STAND_INS_NAMED = {
    "cats": "our cats",
    "mq-deadline": "mq-deadline, the successor of deadline",
    "deadline": "our deadline",
    "cfq": "our cfq",
}
REPRODUCED = tuple(names[0] for names in STAND_INS.values())

# The predicted share of the 31,949 real cache hits in the CATS run of Table 2 (PERFORM 2010
# section 6).
SHADOW_SHARE = 0.97
SHADOW_HITS = 31_949
SHADOW_WORKLOAD = "surge-direct"

Columns = dict[str, tuple[float, ...]]


@dataclass(frozen=True)
class PaperTable:
    """One table: a column for each scheduler, rows in the order of MEASURES."""

    title: str
    workload: str
    real: Columns
    virtual: Columns  # the virtual disk, with k = 8

    def values(self, platform: str, measure: Measure) -> dict[str, float]:
        """Return one row of the table's real or virtual half (`platform`), by scheduler."""
        row = MEASURES.index(measure)
        columns = {"real": self.real, "virtual": self.virtual}[platform]
        return {scheduler: column[row] for scheduler, column in columns.items()}

    def ranks(self, platform: str, measure: Measure) -> dict[str, int]:
        """Return the ranks of the schedulers in that row; rank 1 is the best."""
        return ranks(self.values(platform, measure), measure)


TABLES = {
    "table2": PaperTable(
        title="Table 2: the O_DIRECT workload",
        workload="surge-direct",
        real={
            "cats": (1.96, 8.51, 37.35, 6961.50, 8.19),
            "deadline": (2.71, 9.76, 59.87, 561.15, 6.08),
            "cfq": (1.39, 5.85, 124.70, 839270.49, 2.19),
        },
        virtual={
            "cats": (2.58, 9.03, 53.79, 16641.07, 6.15),
            "deadline": (3.24, 8.23, 78.27, 633.28, 5.06),
            "cfq": (2.36, 7.78, 117.13, 28651.71, 3.38),
        },
    ),
    "table3": PaperTable(
        title="Table 3: the same through the page cache",
        workload="surge-buffered",
        real={
            "cats": (6.53, 11.13, 114.91, 8080.16, 12.00),
            "deadline": (7.41, 8.80, 121.87, 3296.87, 12.04),
            "cfq": (7.80, 17.62, 179.17, 35349.39, 9.08),
        },
        virtual={
            "cats": (7.15, 6.22, 189.45, 19292.52, 11.44),
            "deadline": (7.60, 6.05, 198.33, 6839.66, 11.68),
            "cfq": (8.57, 10.30, 258.75, 65796.33, 8.82),
        },
    ),
}
