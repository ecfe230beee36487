# SPDX-License-Identifier: MIT
"""A profile of a drive that the student knows only by its answers: a trace of timed requests.

The profile is graded by what it predicts: the mean service time of requests that are held back, of
several kinds, on the student's profile and on the drive itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from understudy_devices.base.errors import UserError
from understudy_devices.base.plain import one_line, plain
from understudy_devices.course import drive
from understudy_devices.course.check import Check
from understudy_devices.course.draws import Draws
from understudy_devices.course.result import Found, NoPoints
from understudy_devices.course.work import Work
from understudy_devices.device.profile import DiskProfile
from understudy_devices.native.drive import Drive
from understudy_devices.native.simulation import Rows, Simulation
from understudy_devices.native.simulator import Answer, run

CAPACITY = 2**26  # 32 GiB
TRACE = "requests.csv"
NAME = "drive"
LOADS = {"random pages": (8, CAPACITY), "long reads": (2048, CAPACITY), "near": (8, CAPACITY // 64)}
"""Each load: the sectors of a request, and how far it is from the last one at most."""


class Kind(Check):
    """Full points if the prediction is wrong by at most `percent`, none from `none_from` on."""

    file: str
    load: Literal["random pages", "long reads", "near"] | None = None
    """What is predicted; without it, the check only reads the profile."""
    percent: Annotated[float, Field(gt=0, le=100)] = 5.0
    none_from: Annotated[float, Field(gt=0, le=1000)] = 40.0
    requests: Annotated[int, Field(ge=100, le=20_000)] = 2000

    def files(self) -> Sequence[str]:
        """Return the profile."""
        return (self.file,)

    def mistakes(self, folder: Path) -> Iterator[str]:
        """Yield what is wrong with the bounds."""
        if self.none_from <= self.percent:
            yield "none_from: is not above percent"
        if self.load and not self.hidden:
            yield "hidden: a student's copy has no drive; make the check hidden"

    def told(self, work: Work) -> Mapping[str, Any]:
        """Return the size of the drive."""
        return {"sectors": CAPACITY, "trace": TRACE}

    def exported(self, work: Work) -> Mapping[str, bytes]:
        """Return the trace of the drive."""
        return {TRACE: _trace(_unknown(work), work.keys.hidden.child("trace"))}

    def solves(self) -> Sequence[str]:
        """Return the profile."""
        return (self.file,)

    def solved(self, work: Work) -> Mapping[str, bytes]:
        """Return the drive's own profile."""
        return {self.file: drive.text(work.keys.hidden.child("unknown drive")).encode()}

    def run(self, work: Work) -> Found:
        """Compare profile and drive."""
        try:
            work.toml(self.file)
            mine = drive.read(work.text(self.file), NAME)
        except UserError as wrong:
            _, _, reason = plain(str(wrong)).rpartition(f"{NAME}.toml: ")
            raise NoPoints(f"{self.file}: {reason}") from None
        try:
            device = Drive(mine.timing(CAPACITY), 1)
            if self.load is None:
                return Found(1.0, (f"a profile: {one_line(mine.summary)}",))
            draws = work.draws(self.name, hidden=self.hidden)
            predicted = _mean_ms(_served(device, self.load, self.requests, draws))
        except Exception as error:
            if work.stop.is_set():
                raise
            raise NoPoints(f"{self.file}: it describes no drive with a head") from error
        unknown = Drive(_unknown(work).timing(CAPACITY), 1)
        true = _mean_ms(_served(unknown, self.load, self.requests, draws))
        off = 100 * abs(predicted - true) / true
        share = min(1.0, max(0.0, (self.none_from - off) / (self.none_from - self.percent)))
        words = f"{self.load}: predicted {predicted:.3f} ms, wrong by {off:.1f} %"
        return Found(share, (f"{words}, expected at most {self.percent:g} %",))


def _unknown(work: Work) -> DiskProfile:
    return drive.read(drive.text(work.keys.hidden.child("unknown drive")), NAME)


def _served(device: Drive, load: str, count: int, draws: Draws) -> Answer:
    """Serve one request after the other."""
    sectors, reach = LOADS[load]
    at = CAPACITY // 2
    places = []
    for each in range(count):
        if reach == CAPACITY:
            at = draws.below(f"{load} {each}", CAPACITY - sectors)
        else:
            at += draws.below(f"{load} {each}", 2 * reach) - reach
            at = min(max(at, 0), CAPACITY - sectors)
        places.append(at)
    return _run(device, places, [sectors] * count)


def _run(device: Drive, places: Sequence[int], lengths: Sequence[int]) -> Answer:
    count = len(places)
    rows = Rows(
        first=np.array([0, count]),
        think_ns=np.zeros(count, np.uint64),
        sector=np.array(places),
        sectors=np.array(lengths),
        op=np.zeros(count, np.uint8),
        owner=np.zeros(count, np.uint32),
    )
    return run(
        Simulation(
            workload="rows-closed",
            scheduler="fcfs",
            device=device,
            capacity_sectors=CAPACITY,
            requests=count,
            rows=rows,
        )
    )


def _mean_ms(answer: Answer) -> float:
    times = answer.rows["completion_ns"] - answer.rows["dispatch_ns"]
    return float(times.mean()) / 1e6


def _trace(disk: DiskProfile, draws: Draws) -> bytes:
    """Return the timed requests as CSV: pages anywhere, then pages nearby, then long reads."""
    device = Drive(disk.timing(CAPACITY), 1)
    places: list[int] = []
    lengths: list[int] = []
    for number, (sectors, reach) in enumerate(LOADS.values()):
        for each in range(1500):
            label = f"{number} {each}"
            if reach == CAPACITY or not places:
                place = draws.below(label, CAPACITY - sectors)
            else:
                place = places[-1] + draws.below(label, 2 * reach) - reach
            places.append(min(max(place, 0), CAPACITY - sectors))
            lengths.append(sectors)
    rows = _run(device, places, lengths).rows
    order = np.argsort(rows["dispatch_ns"], kind="stable")
    lines = ["arrival_ns,dispatch_ns,completion_ns,sector,sectors,op"]
    lines += [
        f"{rows['arrival_ns'][each]},{rows['dispatch_ns'][each]},{rows['completion_ns'][each]},"
        f"{rows['sector'][each]},{rows['sectors'][each]},read"
        for each in order
    ]
    return "\n".join([*lines, ""]).encode()
