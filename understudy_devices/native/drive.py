# SPDX-License-Identifier: MIT
"""The drive model for Python (core/drive/drive.h): times in ns, addresses in sectors."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from understudy_devices._core import ffi, lib
from understudy_devices.device.timing import Timing, flat
from understudy_devices.native import descriptions
from understudy_devices.native.arrays import U64, buffer, pointer_to, same_length, u64
from understudy_devices.native.shared_memory import Shared

CURVE_POINTS_MAX: int = lib.CURVE_POINTS_MAX
TRACK_SECTORS_MAX: int = lib.TRACKS_SECTORS_MAX
TRACKS_ZONES_MAX: int = lib.TRACKS_ZONES_MAX
TRACKS_SLIPS_MAX: int = lib.TRACKS_SLIPS_MAX
PLATTER_TURN_NS_MAX: int = lib.PLATTER_TURN_NS_MAX

SETTINGS = {
    one.name: one for one in descriptions.fields(lib.device_settings, lib.nr_device_settings)
}
_FIELDS = {name: lib.device_settings + number for number, name in enumerate(SETTINGS)}


class Drive:
    """A drive in operation (core/drive/drive.h): curves, cache, head and phase."""

    def __init__(self, timing: Timing, seed: int = 0) -> None:
        """Make the drive that a profile describes; `seed` determines its random phase."""
        self._device = ffi.new("struct timed_device *", {"scale_milli": 1000})
        self._drive = ffi.addressof(self._device, "drive")
        for name, value in (timing.settings() | {"rotation_seed": seed}).items():
            self._set(name, value)
        disk = self._drive.disk
        disk.capacity_sectors = timing.capacity_sectors
        self._arrays: dict[str, U64] = {}
        tracks = timing.tracks
        self._fill("seek.point", timing.seek, CURVE_POINTS_MAX)
        self._fill("transfer.point", timing.transfer, CURVE_POINTS_MAX)
        self._fill("tracks.zone", [flat(zone) for zone in tracks.zones], TRACKS_ZONES_MAX)
        self._fill("tracks.slip", tracks.slips, TRACKS_SLIPS_MAX)
        if lib.drive_check(self._drive):
            raise ValueError("a curve or a time is not as core/drive/drive.h wants it")
        kinds = {"op": "u8[1]", "sector": "u64[1]", "sectors": "u32[1]", "idle_ns": "u64[1]"}
        self._one = {name: ffi.new(kind) for name, kind in kinds.items()}
        self._answer = (ffi.new("u64[1]"), ffi.new("u8[1]"))
        self.reset()

    @classmethod
    def linear(
        cls,
        capacity_sectors: int,
        intercept_ns: int,
        full_seek_ns: int,
        *,
        cache: tuple[int, int, int] = (0, 0, 0),
        hit_ns: int = 0,
    ) -> Self:
        """Return a drive whose service time is linear in the seek distance, as in the papers."""
        line = ((0, 0), (capacity_sectors, full_seek_ns))
        return cls(Timing(capacity_sectors, intercept_ns, line, cache=cache, hit_ns=hit_ns))

    def _set(self, name: str, value: int) -> None:
        setting = SETTINGS[name]
        if not setting.min <= value <= setting.max:
            raise ValueError(f"{name} is {value}: has to be from {setting.min} to {setting.max}")
        lib.sched_field_value(self._device, _FIELDS[name])[0] = value

    def copy_to(self, shared: Shared, where: str) -> None:
        """Copy the drive to a member of a shared structure, which has space for the arrays of
        `placed`.
        """
        *path, member = where.split(".")
        structure = shared.structure
        for part in path:
            structure = getattr(structure, part)
        setattr(structure, member, self._drive[0])
        for name in self.placed(where):
            shared.point(name)

    def numbers(self, where: str) -> dict[str, int]:
        """Return the settings by their names in core/drive/settings.c, and the disk's capacity and
        the lengths of its arrays by the names of their members, for a drive in `where`.
        """
        settings = {
            name: int(lib.sched_field_value(self._device, field)[0])
            for name, field in _FIELDS.items()
        }
        disk = self._drive.disk
        return settings | {
            f"{where}.disk.capacity_sectors": int(disk.capacity_sectors),
            f"{where}.disk.seek.nr_points": int(disk.seek.nr_points),
            f"{where}.disk.transfer.nr_points": int(disk.transfer.nr_points),
            f"{where}.disk.tracks.nr_zones": int(disk.tracks.nr_zones),
            f"{where}.disk.tracks.nr_slips": int(disk.tracks.nr_slips),
        }

    def placed(self, where: str) -> dict[str, U64]:
        """Return the arrays to which a drive in the member `where` points, by the names of the
        pointers.
        """
        return {f"{where}.disk.{name}": array for name, array in self._arrays.items()}

    def _fill(self, name: str, rows: Sequence[Sequence[int]], most: int) -> None:
        """Fill an array that the disk points to; the array lives as long as this object."""
        if len(rows) > most:
            raise ValueError(f"{name}: {len(rows)} of them, more than {most}")
        try:
            array = np.array(rows, np.uint64)
        except OverflowError:
            raise ValueError(f"{name}: a number is negative or far too large") from None
        path, member = name.split(".")
        structure = getattr(self._drive.disk, path)
        setattr(structure, f"nr_{member}s", len(rows))
        if len(rows):
            self._arrays[name] = array.reshape(-1)
            setattr(structure, member, pointer_to(array, structure, member))

    @property
    def head(self) -> int:
        """Return the sector after the last request that the medium served."""
        return int(self._drive.arm.head.sector)

    def angle(self, sector: int) -> int:
        """Return the angle where a sector begins, in 2^-64 rotations; ValueError if angles are
        unknown.
        """
        tracks = self._tracks_with(sector)
        if not tracks.velocity:
            raise ValueError(f"nobody knows the angle of sector {sector}")
        return int(lib.platter_angle(ffi.addressof(tracks), sector))

    def place(self, sector: int) -> int:
        """Return the arm's position at a sector: in tracks if the drive counts tracks, else in
        sectors.
        """
        return int(lib.tracks_arm(ffi.addressof(self._tracks_with(sector)), sector))

    def track_end(self, sector: int) -> int:
        """Return the end of the track that contains a sector: the sector after the track's last
        one.
        """
        return int(lib.tracks_end(ffi.addressof(self._tracks_with(sector)), sector))

    def _tracks_with(self, sector: int) -> Any:
        disk = self._drive.disk
        if not 0 <= sector < disk.capacity_sectors:
            raise ValueError(f"sector {sector} of {disk.capacity_sectors}")
        return disk.tracks

    def reset(self) -> None:
        """Move the head to sector 0, empty the cache, and reset the clock and the random phases."""
        lib.drive_reset(self._drive)
        self._now_ns = ffi.new("u64 *")

    def serve(
        self,
        op: npt.ArrayLike,
        sector: npt.ArrayLike,
        sectors: npt.ArrayLike,
        idle_ns: npt.ArrayLike = 0,
    ) -> tuple[U64, npt.NDArray[np.bool_]]:
        """Serve requests one after another, each `idle_ns` after the previous completion.

        Returns service times, and which requests were cache hits.
        """
        ops = np.ascontiguousarray(op, np.uint8)
        first = u64(sector)
        length = np.ascontiguousarray(sectors, np.uint32)
        n = same_length({"op": ops, "sector": first, "sectors": length})
        if n and int((first + length).max()) > self._drive.disk.capacity_sectors:
            raise ValueError("a request ends past the end of the disk")
        idle = np.ascontiguousarray(np.broadcast_to(u64(idle_ns), (n,)))
        service_ns = np.empty(n, np.uint64)
        hit = np.empty(n, np.uint8)
        arrays = (buffer(array) for array in (ops, first, length, idle))
        lib.drive_serve_all(self._drive, n, *arrays, self._now_ns, buffer(service_ns), buffer(hit))
        return service_ns, hit.astype(np.bool_)

    def serve_queued(
        self,
        op: npt.ArrayLike,
        sector: npt.ArrayLike,
        sectors: npt.ArrayLike,
        given_ns: npt.ArrayLike,
    ) -> tuple[U64, U64, npt.NDArray[np.bool_]]:
        """Reset, then queue each request at its arrival time, and let the drive choose their order
        (core/drive/device.h).

        The clock begins at 0.  Returns when each service began, how long it took, and which
        requests were cache hits.
        """
        ops = np.ascontiguousarray(op, np.uint8)
        first, arrival = u64(sector), u64(given_ns)
        length = np.ascontiguousarray(sectors, np.uint32)
        n = same_length({"op": ops, "sector": first, "sectors": length, "given_ns": arrival})
        if (arrival[1:] < arrival[:-1]).any():
            raise ValueError("given_ns does not ascend")
        if n and int((first + length).max()) > self._drive.disk.capacity_sectors:
            raise ValueError("a request ends past the end of the disk")
        start_ns, service_ns, hit = (
            np.empty(n, np.uint64),
            np.empty(n, np.uint64),
            np.empty(n, "u1"),
        )
        arrays = (ops, first, length, arrival, start_ns, service_ns, hit)
        if lib.device_serve_queued(self._device, n, *(buffer(array) for array in arrays)):
            raise MemoryError
        return start_ns, service_ns, hit.astype(np.bool_)

    def serve_one(self, op: int, sector: int, sectors: int, idle_ns: int = 0) -> int:
        """Serve one request as `serve` does, but without arrays; return its service time."""
        one = self._one
        if not 0 <= sector <= sector + sectors <= self._drive.disk.capacity_sectors:
            raise ValueError("a request ends past the end of the disk")
        one["op"][0], one["sector"][0] = op, sector
        one["sectors"][0], one["idle_ns"][0] = sectors, idle_ns
        lib.drive_serve_all(self._drive, 1, *one.values(), self._now_ns, *self._answer)
        return int(self._answer[0][0])
