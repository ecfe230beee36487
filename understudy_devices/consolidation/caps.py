# SPDX-License-Identifier: MIT
"""Caps on a VM's requests, as volumes of clouds and io.max of Linux have them.

A cap holds requests back before they reach the device, in their order.  It is a token bucket, as in
the generic cell rate algorithm (ITU-T I.371): a request takes one token, or one for each of its
bytes; tokens come at the cap's rate, up to the bucket's size; a request that finds too few waits.
A bucket that holds few tokens spaces the requests, and one that holds many allows a burst, which a
second bucket, with the burst's rate, limits.  Buckets that follow one another allow what all of
them allow, in any order (Le Boudec and Thiran, Network Calculus, section 1.5.3).

With requests that do not wait for one another's completion, a cap does not depend on the device.
So a capped run has later arrivals, and remembers how long each request waited.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from understudy_devices.base import file_arrays
from understudy_devices.base.errors import UserError
from understudy_devices.consolidation.scenario import Tenant
from understudy_devices.consolidation.vm import Run
from understudy_devices.native.arrays import I64
from understudy_devices.native.arrivals import write_arrivals

SECTOR_BYTES = 512
SLICE_S = 0.1  # without a burst, a bucket holds what comes in this time, like io.max on a disk
UNITS = {"iops": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "KiB/s": 2**10, "MiB/s": 2**20}
RATE = rf"(\d+(?:\.\d+)?)({'|'.join(UNITS)})"
LIMIT = re.compile(rf"{RATE}(?::{RATE}:(\d+)s)?")
MOST = 1e12
HINT = "write 500iops, 20MB/s, or with a burst 300iops:3000iops:1800s (for 1,800 s at most)"


@dataclass(frozen=True)
class Bucket:
    """A token bucket: tokens a second, and how many it holds at most and at the begin.

    of_bytes: a request takes a token for each of its bytes; otherwise one.
    """

    rate: float
    size: float
    of_bytes: bool


@dataclass(frozen=True)
class Cap:
    """Limits of one VM, as typed, and the buckets that carry them out."""

    text: str
    buckets: tuple[Bucket, ...]
    base: tuple[Bucket, ...]  # those of the rates without bursts

    def __str__(self) -> str:
        """Return the limits as typed."""
        return self.text


def parse(text: str) -> Cap:
    """Return the cap of a text such as 300iops:3000iops:1800s,125MB/s."""
    words = text.split(",")
    limits = [list(_limit(word, text)) for word in words]
    return Cap(
        text, tuple(one for limit in limits for one in limit), tuple(each[0] for each in limits)
    )


def _limit(word: str, text: str) -> Iterator[Bucket]:
    match = LIMIT.fullmatch(word)
    if not match:
        raise UserError(f"--cap: {text}: {word} is no limit; {HINT}")
    rate, unit, burst, burst_unit, seconds = match.groups()
    of_bytes = unit != "iops"
    base = _rate(rate, unit, text)
    if burst is None:
        yield _sliced(base, of_bytes)
        return
    most = _rate(burst, burst_unit, text)
    if of_bytes != (burst_unit != "iops") or most <= base or not int(seconds[:9]):
        raise UserError(
            f"--cap: {text}: {word}: a burst is above the rate, of the same kind; {HINT}"
        )
    yield Bucket(base, (most - base) * int(seconds[:9]), of_bytes)
    yield _sliced(most, of_bytes)


def _rate(number: str, unit: str, text: str) -> float:
    rate = float(number) * UNITS[unit]
    if not 0 < rate <= MOST:
        raise UserError(
            f"--cap: {text}: a rate of {rate:g} a second: has to be above 0, to {MOST:g}"
        )
    return rate


def _sliced(rate: float, of_bytes: bool) -> Bucket:
    return Bucket(rate, SLICE_S * rate, of_bytes)


def passed_ns(arrival_ns: I64, sectors: I64, buckets: Sequence[Bucket]) -> I64:
    """Return when requests, in order of arrival, have passed all buckets.

    arrival_ns, sectors: (N,). A request with more bytes than a bucket holds passes once the bucket
    is full, and leaves it in debt.
    """
    for bucket in buckets:
        arrival_ns = _through(arrival_ns, sectors, bucket)
    return arrival_ns


def _through(arrival_ns: I64, sectors: I64, bucket: Bucket) -> I64:
    """Let requests pass one bucket.

    It is full at a time that each request moves: from that time, or its arrival if later, by its
    tokens.  A request passes as soon as that time is near enough that the bucket holds its tokens.
    """
    column = file_arrays.Column(np.int64)
    begin_ns, full_ns, last_ns = int(arrival_ns[0]), 0.0, 0
    size_ns = bucket.size / bucket.rate * 1e9
    for part in file_arrays.blocks(len(arrival_ns)):
        tokens = sectors[part] * float(SECTOR_BYTES) if bucket.of_bytes else sectors[part] * 0 + 1
        cost_ns = tokens / bucket.rate * 1e9
        spent_ns = np.cumsum(cost_ns)
        before_ns = spent_ns - cost_ns
        since_ns = arrival_ns[part] - begin_ns
        highest_ns = np.maximum(np.maximum.accumulate(since_ns - before_ns), full_ns)
        near_ns = highest_ns + before_ns - (size_ns - np.minimum(cost_ns, size_ns))
        passes = np.maximum(since_ns, np.ceil(near_ns).astype(np.int64))
        passes = np.maximum(np.maximum.accumulate(passes), last_ns)
        column.put(passes + begin_ns)
        full_ns, last_ns = float(highest_ns[-1] + spent_ns[-1]), int(passes[-1])
    return column.array()


def capped(tenant: Tenant, cap: Cap, folder: Path, say: Callable[[str], None]) -> Tenant:
    """Return the VM with its cap, its runs in the folder; say if it lives on a burst's credits.

    Raise a UserError if the VM's requests would wait ever longer.
    """
    name = tenant.vm.name
    runs = []
    for rank, run in enumerate(tenant.vm.runs):
        passes_ns = passed_ns(run.arrivals.arrival_ns, run.sectors, cap.buckets)
        waited_ns = file_arrays.each(np.subtract, passes_ns, run.arrivals.arrival_ns)
        for bucket in cap.base:
            share = _asked(run, bucket) / bucket.rate
            if share > 1 and waited_ns[-1]:
                raise UserError(
                    f"--cap: {name}={cap}: {run.name} asks for {_words(share, bucket)} on average, "
                    "so its requests would wait ever longer; give a higher rate or a longer burst"
                )
            if share > 1:
                say(
                    f"{run.name}: asks for {_words(share, bucket)} on average, and lives on the "
                    "credits of its burst, which end"
                )
        runs.append(_written(run, passes_ns, waited_ns, folder / f"{rank}"))
    return replace(tenant, vm=replace(tenant.vm, runs=tuple(runs)), cap=cap)


def _asked(run: Run, bucket: Bucket) -> float:
    """Return the tokens that a run takes in a second."""
    tokens = (
        float(run.sectors.sum(dtype=np.float64)) * SECTOR_BYTES if bucket.of_bytes else run.requests
    )
    return tokens / (max(run.arrivals.last_ns, 1) / 1e9)


def _words(share: float, bucket: Bucket) -> str:
    unit, per = ("MB/s", 1e6) if bucket.of_bytes else ("requests/s", 1.0)
    return f"{share * bucket.rate / per:,.4g} {unit} of {bucket.rate / per:,.4g}"


def _written(run: Run, passes_ns: I64, waited_ns: I64, folder: Path) -> Run:
    folder.mkdir(parents=True)
    own = run.arrivals
    arrivals = write_arrivals(folder, passes_ns, own.pieces, own.service_ns, own.write, waited_ns)
    return replace(run, arrivals=arrivals)
