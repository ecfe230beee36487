# SPDX-License-Identifier: MIT
"""A [seek] section for a detailed drive (oracle/detailed), as samples by the distance in sectors.

oracle/detailed/mechanism.c defines seek times by cylinders.  A distance in sectors crosses a
varying number of cylinders, so each sample is the mean of many seeks.
"""

import math
import random
from statistics import fmean
from typing import Any

from oracle.detailed.drive import DetailedDrive, Parameters

SAMPLES = 400
PLACES = 60


def seek_ns(parameters: Parameters, cylinders: int) -> float:
    """Return the arm's time in ns, without settling."""
    near = min(cylinders, parameters.seek_threshold)
    beyond_ns = parameters.seek_slope_ns * (cylinders - near)
    return parameters.seek_a_ns + parameters.seek_b_ns * math.sqrt(near) + beyond_ns


def move_ns(drive: DetailedDrive, one: int, other: int) -> float:
    """Return the time to move from one sector to another, ready to read."""
    parameters = drive.parameters
    here, there = drive.locate(one), drive.locate(other)
    switch_ns = 0.0 if here.head == there.head else parameters.head_switch_ns
    cylinders = abs(here.cylinder - there.cylinder)
    if not cylinders:
        return switch_ns
    return max(seek_ns(parameters, cylinders) + parameters.read_settle_ns, switch_ns)


def seek(drive: DetailedDrive, seed: int = 1) -> dict[str, Any]:
    """Return the section: the time of a missed read before it waits for its sector."""
    draw = random.Random(seed)
    sectors = drive.capacity_sectors
    at = [(i / (SAMPLES - 1)) ** 2 for i in range(SAMPLES)]
    ms = [drive.parameters.read_miss_overhead_ns / 1e6]
    for fraction in at[1:]:
        distance = min(round(fraction * sectors), sectors - 1)
        firsts = [draw.randrange(sectors - distance) for _ in range(PLACES)]
        mean_ns = fmean(move_ns(drive, first, first + distance) for first in firsts)
        ms.append((mean_ns + drive.parameters.read_miss_overhead_ns) / 1e6)
    return {"at": at, "ms": ms}
