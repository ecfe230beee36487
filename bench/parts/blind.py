# SPDX-License-Identifier: MIT
"""Predictions for drives that the profiler measures as black boxes."""

from functools import partial

import understudy_devices as us
from bench.black_box import LOADS, SECTOR_BYTES, BlackBox, Predicted, summed_up
from bench.part import Column, Row, Rows
from oracle.detailed.drive import DetailedDrive, random_drive
from understudy_devices.profiler.profile_fit import Fitted

TITLE = "How well undescribed drives are predicted"
TEXT = """
The drives are detailed simulated drives (`oracle/detailed`), which share no code with Understudy's
model. They have skews, spare tracks, serpentine layouts, and caches with different rules. Their
parameters are random, from seeds that were not used before the run. `us.profile` measures
each drive as a black box, with reads and writes. Then the simulator runs all schedulers twice: with
the profile, and with the detailed drive, which serves each request. The next run will use the seeds
881 to 900.

{{ drives }}

A run is *within the limits* if its mean service time is within 3 % of the drive's, and its mean
response time within 5 %. *Or no difference* also counts runs for which the 95 % interval of the
paired differences includes zero. *Pairs ranked right* counts only pairs of schedulers that differ
by more than 3 % on the drive. The cost of a choice is the percentage by which the recommended
scheduler's mean response time on the drive exceeds the best scheduler's. *Without an end* lists the
drives and schedulers with which requests arrive faster than they are served, with the profile or on
the drive. Such runs are outside the limits.

{{ workloads }}

`surge` runs only on drives below 12 GB, since it takes minutes to make a larger file system. In
`concurrent` ten threads read at ten locations, so service times depend on the angles between these
ten locations. `sfq` charges each thread for the service times of its requests. So in `concurrent` a
difference of a few ns decides which request is next, and two runs diverge.

Farthest from the drive:

{{ farthest }}
"""
TABLES = {
    "drives": (
        Column("drive", "{drive}"),
        Column("GB", "{gigabytes:.1f}"),
        Column("rotation (ms)", "{rotation_ms:.3f}"),
        Column("requests to profile it", "{requests:,}"),
        Column("random reads: demerit (%)", "{random_percent:.1f}"),
        Column("mixed sizes (%)", "{mixed_percent:.1f}"),
        Column("reads and writes (%)", "{written_percent:.1f}"),
    ),
    "workloads": (
        Column("workload", "{workload}"),
        Column("drives", "{drives}"),
        Column("service: half within (%)", "{service_half:.1f}"),
        Column("all within (%)", "{service_all:.1f}"),
        Column("response: half within (%)", "{response_half:.1f}"),
        Column("all within (%)", "{response_all:.1f}"),
        Column("within the limits", "{within} of {cases}"),
        Column("or no difference", "{excused}"),
        Column("without an end", "{overloaded}"),
        Column("pairs ranked right", "{ranked_right} of {pairs}"),
        Column("the choice costs at most (%)", "{choice_percent:.1f}"),
    ),
    "farthest": (
        Column("drive", "{drive}"),
        Column("workload", "{workload}"),
        Column("scheduler", "{scheduler}"),
        Column("service (%)", "{service_percent:+.1f}"),
        Column("response (%)", "{response_percent:+.1f}"),
        Column("± (%)", "{interval_percent:.1f}"),
    ),
}
FIRST_DRIVE = 901
SIZES = {
    "full": {"drives": 20, "requests": 5000, "seeds": 5, "workloads": ["all"]},
    "quick": {"drives": 20, "requests": 2000, "seeds": 2, "workloads": ["all"]},
    "tiny": {"drives": 1, "requests": 200, "seeds": 2, "workloads": ["random20"]},
}
IN_VM = False
FARTHEST = 20


def measure(
    drives: int,
    requests: int,
    seeds: int,
    workloads: list[str],
    first: int = FIRST_DRIVE,
) -> Rows:
    """Yield the rows of each drive, then the summaries."""
    names = list(LOADS) if workloads == ["all"] else workloads
    predictions: dict[str, list[Predicted]] = {name: [] for name in names}
    for number in range(first, first + drives):
        drive = random_drive(number)
        fit = us.profile(drive, destroy_data=True)
        yield "drives", _profiled(number, drive, fit)
        box = BlackBox(str(number), partial(_as_new, drive), fit)
        for name in filter(box.takes, names):
            predictions[name].append(box.predicted(name, requests, seeds))
    for of_one in predictions.values():
        if any(each.rows for each in of_one):
            yield "workloads", summed_up(of_one)
    rows = [row for of_one in predictions.values() for each in of_one for row in each.rows]
    rows.sort(key=lambda row: abs(row["response_percent"]), reverse=True)
    yield from (("farthest", row) for row in rows[:FARTHEST])


def _as_new(drive: DetailedDrive) -> DetailedDrive:
    drive.reset()
    return drive


def _profiled(number: int, drive: DetailedDrive, fit: Fitted) -> Row:
    percent = {check.workload: check.demerit_percent for check in fit.checks}
    return {
        "drive": number,
        "gigabytes": drive.capacity_sectors * SECTOR_BYTES / 1e9,
        "rotation_ms": drive.parameters.period_ns / 1e6,
        "requests": fit.requests,
        "random_percent": percent["random reads"],
        "mixed_percent": percent["reads of many sizes"],
        "written_percent": percent["reads and writes"],
    }
