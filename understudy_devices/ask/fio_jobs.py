# SPDX-License-Identifier: MIT
"""fio's job files, and the requests that the simulator generates for their jobs."""

import configparser
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy_devices.base.errors import UserError
from understudy_devices.native.draw import Draw
from understudy_devices.native.request import READ, WRITE
from understudy_devices.native.simulation import Rows

GLOBAL = "global"
SECTOR_BYTES = 512
JOBS_MAX = 1000


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Options that change no request, or that a run sets by itself.
OF_NO_ACCOUNT = _words(
    """
    name description ioengine thread group_reporting gtod_reduce gtod_cpu disk_util clocksource
    norandommap randrepeat allrandrepeat randseed random_generator time_based runtime ramp_time
    invalidate filename directory zero_buffers refill_buffers scramble_buffers create_on_open
    fadvise_hint fallocate overwrite unified_rw_reporting lat_percentiles clat_percentiles
    percentile_list slat_percentiles write_lat_log write_iops_log write_bw_log log_avg_msec
    log_offset loops new_group userspace_reap
"""
)
OTHER_NAMES = {"readwrite": "rw", "blocksize": "bs"}
USED = _words(
    """
    rw bs size offset offset_increment numjobs iodepth rwmixread rwmixwrite thinktime
    thinktime_blocks direct
"""
)
# Engines that ignore iodepth and have one request outstanding; and engines that have up to
# iodepth requests outstanding.
ONE_AT_A_TIME = _words("sync psync vsync pvsync pvsync2")
AS_DEEP = _words("libaio io_uring posixaio")
PATTERNS = {
    "read": (False, 100),
    "write": (False, 0),
    "rw": (False, None),
    "readwrite": (False, None),
    "randread": (True, 100),
    "randwrite": (True, 0),
    "randrw": (True, None),
}
UNITS = {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
TIMES_NS = {"": 1000, "us": 1000, "usec": 1000, "ms": 10**6, "msec": 10**6, "s": 10**9}


@dataclass(frozen=True)
class JobFile:
    """A job file, and the name that messages use for it."""

    shown: str
    text: str

    def jobs(self) -> list[tuple[str, dict[str, str | None]]]:
        """Return the name and the options of each job, including the options of [global]."""
        parser = configparser.RawConfigParser(
            allow_no_value=True,
            strict=False,
            comment_prefixes=("#", ";"),
            default_section="\\0",
            delimiters=("=",),
        )
        try:
            parser.read_string(self.text)
        except configparser.Error as error:
            why = str(error).splitlines()[0]
            raise UserError(f"--workload: {self.shown} is not a job file of fio: {why}") from None
        common = dict(parser.items(GLOBAL)) if parser.has_section(GLOBAL) else {}
        names = [name for name in parser.sections() if name != GLOBAL]
        if not names:
            raise UserError(f"--workload: {self.shown} has no job: a section such as [readers]")
        return [(name, _named(common) | _named(dict(parser.items(name)))) for name in names]

    def on_device(self, device: str) -> str:
        """Return the job file for the real fio, changed to use a raw disk and to run forever."""
        forced = {"filename": device, "time_based": "1", "runtime": "1d"}
        dropped = {"directory", "stonewall", "wait_for", *forced}
        lines = []
        for name, options in self.jobs():
            rest = {key: value for key, value in options.items() if key not in dropped}
            lines.append(f"[{name}]")
            for key, value in (rest | forced).items():
                lines.append(key if value is None else f"{key}={value}")
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Asks:
    """The parameters of one process of a job; a process has one request outstanding."""

    random: bool
    reads_percent: int
    sectors: int
    first: int
    room: int
    think_ns: int


def processes(file: JobFile, capacity_sectors: int) -> list[Asks]:
    """Return the processes of all jobs; a random job with iodepth N becomes N processes.

    If the simulator can't run a job, raise a UserError that names the job and the option.
    """
    patterns = [
        one for name, own in file.jobs() for one in _of_job(file, name, own, capacity_sectors)
    ]
    if len(patterns) > JOBS_MAX:
        raise UserError(f"--workload: {file.shown} has {len(patterns)} processes, over {JOBS_MAX}")
    return patterns


def rows(patterns: list[Asks], seed: int, steps: int) -> Rows:
    """Return `steps` steps of each process; each process has its own stream of random numbers."""
    columns = [_steps(one, Draw(seed, number), steps) for number, one in enumerate(patterns)]
    joined = [np.concatenate(parts) for parts in zip(*columns, strict=True)]
    sector, op = joined
    return Rows(
        first=np.arange(len(patterns) + 1) * steps,
        think_ns=np.repeat([one.think_ns for one in patterns], steps),
        sector=sector,
        sectors=np.repeat([one.sectors for one in patterns], steps),
        op=op,
        owner=np.repeat(np.arange(len(patterns)), steps),
    )


def _steps(one: Asks, draw: Draw, steps: int) -> tuple[Any, Any]:
    places = one.room // one.sectors
    at = range(steps) if not one.random else (draw.below(places) for _ in range(steps))
    place = np.fromiter((number % places for number in at), np.int64, steps)
    reads = np.fromiter((draw.below(100) < one.reads_percent for _ in range(steps)), bool, steps)
    return one.first + place * one.sectors, np.where(reads, READ, WRITE)


def _named(options: Mapping[str, str | None]) -> dict[str, str | None]:
    return {OTHER_NAMES.get(name, name): value for name, value in options.items()}


def _of_job(
    file: JobFile, name: str, options: Mapping[str, str | None], capacity_sectors: int
) -> Iterator[Asks]:
    def refuse(why: str) -> UserError:
        return UserError(
            f"--workload: {file.shown}: [{name}]: {why}; --on vm runs it with the real fio"
        )

    def number(key: str, default: int) -> int:
        text = options.get(key)
        if text is None:
            return default
        if not text.strip().isdigit():
            raise refuse(f"the simulator can't read {key}={text} as a number")
        if key in ("numjobs", "iodepth") and int(text) < 1:
            raise refuse(f"{key}={text} must be at least 1")
        return int(text)

    def sectors(key: str, default: int) -> int:
        text = options.get(key)
        match = re.fullmatch(r"(\d+)(?:(%)|([bkmgt]?)(?:i?b)?)", (text or "").strip().lower())
        if text is None:
            return default
        if not match:
            raise refuse(f"the simulator can't read {key}={text} as a size")
        value, percent, unit = match.groups()
        if percent:
            return capacity_sectors * int(value) // 100
        size = int(value) * UNITS[unit]
        if size % SECTOR_BYTES:
            raise refuse(f"{key}={text} is not a whole number of sectors")
        return size // SECTOR_BYTES

    unknown = sorted(options.keys() - USED - OF_NO_ACCOUNT)
    if unknown:
        raise refuse(f"the simulator does not know {unknown[0]}")
    pattern = (options.get("rw") or "read").strip().lower()
    if pattern not in PATTERNS:
        raise refuse(f"the simulator does not know rw={pattern}")
    if number("direct", 0) != 1:
        raise refuse("the simulator has no page cache in front of a raw disk: add direct=1")
    if number("thinktime_blocks", 1) != 1:
        raise refuse("the simulator supports only thinktime_blocks=1")
    random, reads_percent = PATTERNS[pattern]
    mixed = number("rwmixread", 100 - number("rwmixwrite", 50))
    engine = (options.get("ioengine") or "psync").strip().lower()
    if engine not in ONE_AT_A_TIME | AS_DEEP:
        raise refuse(f"the simulator does not know ioengine={engine}")
    depth = number("iodepth", 1) if engine in AS_DEEP else 1
    if depth > 1 and not random:
        raise refuse(f"the simulator can't run a sequential job with iodepth={depth}")
    length, first = sectors("bs", 8), sectors("offset", 0)
    step = sectors("offset_increment", 0)
    for copy in range(number("numjobs", 1)):
        begins = first + copy * step
        room = min(sectors("size", capacity_sectors), capacity_sectors - begins)
        if not 1 <= length <= room:
            raise refuse("its area does not fit on the disk; take a larger --virtual-size")
        think_ns = _time_ns(options.get("thinktime"), refuse)
        one = Asks(
            random,
            mixed if reads_percent is None else reads_percent,
            length,
            begins,
            room,
            think_ns,
        )
        yield from [one] * depth


def _time_ns(text: str | None, refuse: Any) -> int:
    match = re.fullmatch(r"(\d+)\s*([a-z]*)", (text or "0").strip().lower())
    if not match or match[2] not in TIMES_NS:
        raise refuse(f"the simulator can't read thinktime={text} as a time")
    return int(match[1]) * TIMES_NS[match[2]]
