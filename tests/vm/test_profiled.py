# SPDX-License-Identifier: MIT
"""A throttled disk with known parameters, profiled from inside the VM in virtual time.

The profiler sends the guest one request after another, and recovers the throttle's settings: the
papers' line and cache, sampled curves with zones, and a buffer that works in time, with a write
cache. The same requests get the same answers to the nanosecond, so the same seed results in the
same profile (tests/profiler/test_profiler.py).
"""

import math
import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from guests import group, once, pairs, slow_group
from test_profiler import KNOWN

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.device import profile
from understudy_devices.device.profile import DiskProfile
from understudy_devices.platforms.vm import snapshots, target
from understudy_devices.profiler import profile_fit
from understudy_devices.profiler.profile_fit import Fitted

SECTORS = 20_000_000
SEED = 1
KEPT = 2500  # the first tenth of all answers
DISKS = {
    "line": profile.load("cheetah-15k4"),
    "zones": profile.load("vesper-zoned"),
    "buffer": DiskProfile.model_validate(KNOWN),
}


class Listener:
    """A target that keeps its first answers."""

    def __init__(self, disk: target.VmTarget) -> None:
        self._disk = disk
        self.answers: list[tuple[str, int, int, int, int]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._disk, name)

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        completion_ns = self._disk.request(op, sector, sectors, at_ns)
        if len(self.answers) < KEPT:
            self.answers.append((op, sector, sectors, at_ns, completion_ns))
        return completion_ns


@dataclass(frozen=True)
class Profiled:
    """The profile of a disk, its first answers, and the throttle's counters."""

    found: Fitted
    answers: list[tuple[str, int, int, int, int]]
    counters: dict[str, int]
    software: target.Software


def measured(name: str) -> Profiled:
    """Profile a disk in a VM of its own."""
    with target.in_vm(DISKS[name], SECTORS * 512, seed=5) as disk:
        listener = Listener(disk)
        fitted = profile_fit.profile(listener, SEED, destroy_data=True)
    print(f"{name}: seed {SEED}, {fitted.requests} requests, {disk.software}\n{fitted.to_toml()}")
    return Profiled(fitted, listener.answers, pairs(disk.out["counters"]), disk.software)


profiled = once(measured)
on_each = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=(group if name == "line" else slow_group)(f"profiled-{name}"))
        for name in DISKS
    ],
)


def seeks(disk: DiskProfile, at: npt.ArrayLike, with_rotation: bool) -> npt.NDArray[np.float64]:
    """Return the times of seeks over these distances in ms, with or without half a rotation."""
    timing = disk.timing(SECTORS)
    distance, ns = np.array(timing.seek, float).T
    constant_ns = timing.intercept_ns + with_rotation * timing.rotation_ns / 2
    times_ns: npt.NDArray[np.float64] = np.interp(np.asarray(at) * SECTORS, distance, ns)
    return (times_ns + constant_ns) / 1e6


def both(name: str, at: npt.ArrayLike) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the known and the found curve.

    Half a turn for each request can't be told from a longer seek, so the found curve may contain
    it.
    """
    disk = profiled(name).found.disk()
    with_rotation = disk.rotation is None
    return seeks(DISKS[name], at, with_rotation), seeks(disk, at, with_rotation)


@on_each
def test_nothing_was_late_or_went_past_the_throttle(name: str) -> None:
    """The guest's program adds little time, too."""
    counters = profiled(name).counters
    assert counters["requests"] == counters["completed"] >= profiled(name).found.requests
    for counter in ("failed", "late", "missed", "untracked", "lost"):
        assert counters[counter] == 0, counter
    assert profiled(name).software.ns("read", 8) < 25_000
    assert profiled(name).software.ns("write", 8) < 40_000


@on_each
def test_each_sample_of_the_curve_within_2_percent(name: str) -> None:
    """The points are those of the known curve, without distance 0."""
    curve = DISKS[name].seek
    places = curve.at if curve and curve.at else np.linspace(0, 1, 256)
    known, fitted = both(name, places[1:])
    print(f"{name}: at most {np.abs(fitted / known - 1).max():.3%} off")
    assert np.abs(fitted / known - 1).max() < 0.02


@on_each
def test_full_seek_within_1_percent(name: str) -> None:
    """The full seek is the difference between the shortest seek and the seek over the
    whole disk.
    """
    known, fitted = both(name, (0.000625, 1))
    print(f"{name}: full seek {np.diff(fitted)} of {np.diff(known)} ms")
    assert np.diff(fitted) == pytest.approx(np.diff(known), rel=0.01)


@on_each
def test_half_a_rotation_within_1_percent(name: str) -> None:
    """For a line this is the intercept, R/2 in the papers."""
    if name == "buffer":
        rotation = profiled(name).found.disk().rotation
        assert rotation
        assert rotation.period_ms == pytest.approx(6, rel=0.01)
    else:
        known, fitted = both(name, 0)
        print(f"{name}: {fitted} of {known} ms")
        assert fitted == pytest.approx(known, rel=0.01)


@group("profiled-line")
def test_the_papers_cache_is_exact() -> None:
    """Number and size of segments and the prefetch are exact."""
    known, fitted = DISKS["line"].cache, profiled("line").found.disk().cache
    assert known
    assert fitted
    sizes = [
        (each.segments, each.segment_sectors, each.prefetch_sectors) for each in (known, fitted)
    ]
    assert sizes[0] == sizes[1] == (64, 221, 64)
    assert fitted.hit_us == pytest.approx(known.hit_us, rel=0.01)


@group("profiled-zones")
@pytest.mark.slow
def test_zones_are_recovered() -> None:
    """All 16 zones are found, with rates within 1 % and beginnings within the search's
    resolution.
    """
    known, fitted = DISKS["zones"].throughput, profiled("zones").found.disk().throughput
    assert known
    assert fitted
    assert fitted.mb_per_s == pytest.approx(known.mb_per_s, rel=0.01)
    assert fitted.at == pytest.approx(known.at, abs=1 / 256)


@group("profiled-buffer")
@pytest.mark.slow
def test_the_read_cache_is_exact() -> None:
    """Times are within 2 %."""
    known, fitted = DISKS["buffer"].buffer, profiled("buffer").found.disk().buffer
    assert known
    assert fitted
    for key in ("segments", "segment_sectors", "read_ahead_sectors", "segment_keeps", "after_hit"):
        assert getattr(fitted, key) == getattr(known, key), key
    assert fitted.read_hit_us == pytest.approx(known.read_hit_us, rel=0.02)
    assert fitted.bus_mb_per_s == pytest.approx(known.bus_mb_per_s, rel=0.02)


@group("profiled-buffer")
@pytest.mark.slow
def test_the_write_cache_is_exact() -> None:
    """Times are exact to 2 % or 0.3 ms."""
    known, fitted = DISKS["buffer"].buffer, profiled("buffer").found.disk().buffer
    assert known
    assert fitted
    for key in ("write_room", "write_back_idle_ms", "write_back_order"):
        assert getattr(fitted, key) == getattr(known, key), key
    assert fitted.write_us == pytest.approx(known.write_us, rel=0.02)
    assert fitted.write_settle_ms == pytest.approx(known.write_settle_ms, abs=0.3)


@on_each
def test_it_predicts_the_disk(name: str) -> None:
    """The mean times of new requests agree, sequential runs included.

    If rotational latencies are random, they may differ by four standard errors.
    """
    for each in profiled(name).found.compared:
        times = (each.target_times_ms, each.model_times_ms)
        error_ms = math.hypot(*(ms.std() / math.sqrt(len(ms)) for ms in times))
        chance_ms, off = (4 * error_ms, 0.01) if name == "buffer" else (0.0, 0.002)
        check = each.check
        assert check.model_ms == pytest.approx(check.target_ms, rel=off, abs=chance_ms), check


def started(disk: DiskProfile, virtual_bytes: int = SECTORS * 512) -> None:
    """Start and end a VM for a disk, without a request."""
    with target.in_vm(disk, virtual_bytes):
        pass


@group("profiled-trouble")
def test_trouble_is_told() -> None:
    """One request is refused by the disk, one is too long, and then a resumed VM is killed."""
    gone = []
    with suppress(RunFailed), target.in_vm(DISKS["line"], SECTORS * 512) as disk:
        with pytest.raises(OSError, match="Input/output error"):
            disk.request("read", SECTORS, 8, 0)
        with pytest.raises(OSError, match="Argument list too long"):
            disk.request("read", 0, 2**20, 0)
        assert disk.request("read", 0, 8, 0) > disk.sent_ns
        assert "-incoming" in Path(f"/proc/{qemu()}/cmdline").read_text().split("\0")
        os.kill(qemu(), signal.SIGKILL)
        with pytest.raises(RunFailed, match=r"^the VM is gone .* its last words:"):
            disk.request("read", 0, 8, 0)
        gone.append(disk)
    assert gone


def qemu() -> int:
    """Return the process id of QEMU, a child of this process."""
    tasks = Path("/proc/self/task").glob("*/children")
    children = [int(pid) for task in tasks for pid in task.read_text().split()]
    (child,) = (pid for pid in children if "qemu" in Path(f"/proc/{pid}/comm").read_text())
    return child


@group("profiled-trouble")
def test_a_profile_that_the_throttle_refuses() -> None:
    """The error names the file and the value."""
    slow = profile.SeekLine(intercept_ms=20_000.0, full_seek_ms=1.0)
    with pytest.raises(RunFailed, match="/vpt/vdisk/intercept_ns refuses 20000000000"):
        started(DiskProfile(name="slow", model=slow))


def test_what_is_no_disk_is_refused() -> None:
    """The error comes before a VM is started."""
    with pytest.raises(UserError, match="array-32: an array has no profile to find"):
        started(profile.load("array-32"))
    with pytest.raises(UserError, match="513 bytes: not a multiple of 4096"):
        started(DISKS["line"], 513)


@group("profiled-line")
@pytest.mark.slow
def test_the_same_requests_get_the_same_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answers are the same on a busy host, and from a machine that is booted instead of
    resumed.
    """
    answers = profiled("line").answers
    assert len(answers) == KEPT

    def refuse(*arguments: Any) -> None:
        raise OSError("as the test wants it")

    monkeypatch.setattr(snapshots, "find", refuse)
    with target.in_vm(DISKS["line"], SECTORS * 512, seed=5) as disk:
        for op, sector, sectors, at_ns, completion_ns in answers:
            assert disk.request(op, sector, sectors, at_ns) == completion_ns
