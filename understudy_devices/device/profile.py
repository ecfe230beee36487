# SPDX-License-Identifier: MIT
"""The profile of a disk, read from profiles/NAME.toml and checked.

The mechanics follow one of two models.  The section [model] is the line intercept + full_seek *
d/D of PERFORM 2010 section 4.  [seek], [throughput] and [rotation] are Vesper's sampled curves
(SIGCSE 2006 section 2.1).  [sheet] has the figures of a data sheet, from which such curves are
computed (sheet.py).  [cache] is the papers' on-board cache of segments (PERFORM 2010 section 3);
[buffer] is a cache with timing that also accepts writes.  The section [facts] of figures from the
manual does not affect the timing.

Files use ms, us and MB/s (10^6 bytes), and fractions of the disk.  `timing` converts these values
to the whole ns and sectors that core/ uses.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from reprlib import repr as brief
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from understudy_devices.base.catalog import nearest, pick
from understudy_devices.base.errors import UserError
from understudy_devices.base.paths import profiles_dir
from understudy_devices.device.check import ASKS, CHECKS_MAX, Ask, Check
from understudy_devices.device.drive_buffer import SEGMENTS_MAX as SEGMENTS_MAX
from understudy_devices.device.drive_buffer import WRITES_MAX as WRITES_MAX
from understudy_devices.device.drive_buffer import DriveBuffer as DriveBuffer
from understudy_devices.device.layout import TRACK_SECTORS_MAX as TRACK_SECTORS_MAX
from understudy_devices.device.layout import Layout as Layout
from understudy_devices.device.section import (
    ARRAY,
    CACHE_SPAN_MAX,
    MINUTE_MS,
    DiskFraction,
    MegabytesPerSecond,
    Ms,
    PositiveMs,
    Sectors,
    Text,
    check_places,
    exact,
    sector_ps,
    to_ns,
)
from understudy_devices.device.section import SAMPLES_MAX as SAMPLES_MAX
from understudy_devices.device.section import Section as _Section
from understudy_devices.device.section import wrong as _wrong
from understudy_devices.device.sheet import DataSheet
from understudy_devices.device.timing import Curve, Sample, Timing, lines, value_at, zones

ZONES_MAX = SAMPLES_MAX // 2  # each zone needs two samples
SECTOR_PS_MAX = 10**11  # DISK_SECTOR_PS_MAX in core/drive/disk.h
CACHE_SEGMENTS_MAX = 512  # DISK_CACHE_SEGMENTS_MAX in core/drive/disk_cache.h
SERVERS_MAX = 2**16  # the same limit as in sim/check.c
TURN_MS_MIN, TURN_MS_MAX = 0.001, 1000  # angles: PLATTER_TURN_NS_MAX in core/drive/platter.h
QUEUE_DEPTH_MAX = 256  # core/drive/drive.h

# Keys of older profiles, each with its replacement.
DROPPED = {
    "tracks": "[layout] replaces it; profile the drive again",
    "seek.contains_rotation": "subtract half a rotation from seek.ms",
    "sheet.average_over": "average_seek_ms is over random pairs of tracks",
    "facts.sector_bytes": "a sector has 512 bytes",
    "holds_for": "the checks replace it",
    "facts.rotation_ms": "rpm replaces it",
    "facts.surfaces": "no model uses it",
    "facts.tracks_per_surface": "no model uses it",
    "buffer.write_same_track_saves_us": "write_us is the mean of all writes",
    "buffer.command_ms": "it is the time of a seek of no distance, in seek.ms",
    "buffer.replace": "the least recently used segment is evicted",
    "buffer.hits_interrupt": "after_hit replaces it",
    "buffer.hits_return": "after_hit replaces it",
    "buffer.hits_resume": "after_hit replaces it",
    "buffer.read_ahead_to_track_end": 'read_ahead_sectors = "to track end" replaces it',
    "buffer.read_ahead_overwrites": "segment_keeps replaces it",
    "buffer.read_ahead_finishes_sector": "the arm leaves at once",
    "buffer.write_waits_for_read_ahead": "a write stops reading ahead",
    "buffer.read_discards": "sectors that were sent stay in the buffer",
    "buffer.write_back_sectors": "write_back replaces it",
    "buffer.write_back_low_sectors": "write_back replaces it",
}


class SeekLine(_Section):
    """The service time of a request from the medium: intercept + full seek * d/D.

    d is the seek distance, and D the size of the disk, both in sectors.
    """

    intercept_ms: PositiveMs
    """Service time without a seek, rotational latency included."""
    full_seek_ms: Ms
    """Additional time of a seek across the whole disk."""

    def timing(self, capacity_sectors: int) -> Timing:
        """Return the line's timing for a disk of that many sectors."""
        full_seek_ns = to_ns(self.full_seek_ms, 10**6)
        return Timing(
            capacity_sectors=capacity_sectors,
            intercept_ns=to_ns(self.intercept_ms, 10**6),
            seek=((0, 0), (capacity_sectors, full_seek_ns)),
        )


class SeekCurve(_Section):
    """The seek time as a function of the distance.

    The distance is a fraction of the disk's sectors or, if each sector's angle is known, a fraction
    of the disk's tracks.
    """

    ms: Annotated[tuple[Ms, ...], ARRAY]
    """Seek times."""
    at: Annotated[tuple[DiskFraction, ...], ARRAY] | None = None
    """Distance of each seek time; without it, the distances are evenly spread."""
    over: Literal["sectors", "tracks"] = "sectors"
    """What the distances are fractions of; tracks need rotation.phase = "known"."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_line("ms", self.ms, self.at)
        return self

    def curve(self, capacity_sectors: int) -> Curve:
        """Return seek times in ns, by distance."""
        ns = [exact(ms) * 10**6 for ms in self.ms]
        return lines(_samples(self.at, ns), capacity_sectors)


class Throughput(_Section):
    """The sequential throughput at locations on the disk, which are fractions of the disk.

    If `zones` is true, each value holds from its own location up to the location of the next value.
    """

    mb_per_s: Annotated[tuple[MegabytesPerSecond, ...], ARRAY]
    """Sequential throughputs."""
    at: Annotated[tuple[DiskFraction, ...], ARRAY] | None = None
    """Location of each throughput; without it, the locations are evenly spread."""
    zones: bool = False
    """Whether each throughput holds up to the next location; if not, they are joined by lines."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        check = _check_zones if self.zones else _check_line
        check("mb_per_s", self.mb_per_s, self.at)
        return self

    def curve(self, slower: Fraction, capacity_sectors: int) -> Curve:
        """Return the time per sector in ps, multiplied by `slower`, as a curve over the sectors."""
        between = zones if self.zones else lines
        ps = [sector_ps(mb_per_s) * slower for mb_per_s in self.mb_per_s]
        return between(_samples(self.at, ps), capacity_sectors)


class Rotation(_Section):
    """The rotational latency: half a rotation, a random part of a rotation, or, if the layout
    gives each sector's angle, the exact latency."""

    period_ms: PositiveMs
    """Time of a rotation."""
    phase: Literal["mean", "random", "known"] = "mean"
    """Latency of a request: half a rotation, a random part of one, or the exact time."""


class Scaling(_Section):
    """Vesper's scaling to a small disk: tracks are shorter, but the rotation period is the same."""

    real_track_sectors: Sectors
    """Sectors of a track on the real disk."""
    track_sectors: Sectors
    """Sectors of a track on the virtual disk."""


class DiskCache(_Section):
    """The on-board cache; 0 segments means that there is no cache."""

    segments: Annotated[int, Field(ge=0, le=CACHE_SEGMENTS_MAX)]
    """Number of segments."""
    segment_sectors: Annotated[int, Field(ge=1, le=CACHE_SPAN_MAX)]
    """Size of a segment."""
    prefetch_sectors: Annotated[int, Field(ge=0, le=CACHE_SPAN_MAX)]
    """How many sectors are prefetched after a read."""
    hit_us: Annotated[float, Field(ge=1e-3, le=MINUTE_MS * 1000)]
    """Time of a hit."""


class CommandQueue(_Section):
    """The queue for requests that arrive while the drive is busy.

    A free drive chooses the request with the shortest positioning time, unless the oldest request
    has waited longer than the age limit (core/drive/command_queue.h).
    """

    depth: Annotated[int, Field(ge=1, le=QUEUE_DEPTH_MAX)]
    """Number of requests that the drive accepts at once."""
    age_limit_ms: Ms = 500.0
    """A request that has waited this long is served before nearer ones."""


class DiskFacts(_Section):
    """Facts from the manual, which the timing model does not use."""

    vendor: Text
    """Who made it."""
    model: Text
    """What it is called."""
    capacity_sectors: Sectors
    """Size of the real disk."""
    rpm: Annotated[int, Field(ge=1)] | None = None
    """Rotations per minute."""
    manual: Text | None = None
    """Its manual."""


class Servers(_Section):
    """An array: several equal servers in parallel, as a host sees a LUN (ICPE 2011 section 4.1)."""

    servers: Annotated[int, Field(ge=1, le=SERVERS_MAX)]
    """Number of requests that the array serves at once."""
    service_ms: PositiveMs
    """Mean service time."""
    distribution: Literal["constant", "exponential"] = "exponential"
    """Distribution of service times."""

    @property
    def service_ns(self) -> int:
        """Return the mean or constant service time in ns."""
        return to_ns(self.service_ms, 10**6)


class DiskProfile(BaseModel):
    """One device, described by the line `model`, the curve `seek` with its companion sections, the
    figures of a `sheet`, or an `array`."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    name: Text
    """The file's name without .toml."""
    summary: Text = ""
    """What the disk is, in a line."""
    limits: Text = ""
    """From what data the profile was made, in words; empty if unknown."""

    checks: Annotated[tuple[Check, ...], Field(strict=False, max_length=CHECKS_MAX)] = ()
    """Comparisons of the profile with the drive, with their results."""

    model: SeekLine | None = None
    """Service time as a line over the seek distance."""
    seek: SeekCurve | None = None
    """Seek times as a curve."""
    array: Servers | None = None
    """Equal servers without geometry."""
    sheet: DataSheet | None = None
    """Figures of a data sheet, from which the curves are computed."""
    throughput: Throughput | None = None
    """Sequential throughput over the disk."""
    rotation: Rotation | None = None
    """Rotational latency."""
    scaling: Scaling | None = None
    """Shorter tracks, for very small disks."""
    layout: Layout | None = None
    """Where tracks end, and the angles of sectors."""
    cache: DiskCache | None = None
    """The papers' on-board cache."""
    buffer: DriveBuffer | None = None
    """A cache with timing that also accepts writes."""
    queue: CommandQueue | None = None
    """Command queueing in the drive."""
    facts: DiskFacts | None = None
    """Figures from the manual that the model does not use."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.array:
            return self._check_array()
        if not self.model and not self.seek and not self.sheet:
            raise _wrong("model", "is missing, and so are seek and sheet: a disk needs one of them")
        for key in ("model", "seek", "throughput", "rotation", "scaling"):
            if self.sheet and getattr(self, key):
                raise _wrong(key, "does not go with sheet, whose figures give it")
        for key in ("seek", "throughput", "rotation", "scaling"):
            if self.model and getattr(self, key):
                raise _wrong(key, "does not go with model, whose line holds everything")
        if self.cache and self.buffer:
            raise _wrong("buffer", "does not go with cache: a disk has one of them")
        if self.buffer and self.buffer.to_track_end and not self.layout:
            raise _wrong("buffer.read_ahead_sectors", "no layout says where a track ends")
        if self.scaling and not self.throughput:
            raise _wrong("scaling", "there is no throughput to scale")
        if self.throughput:
            _check_slowest(min(self.throughput.mb_per_s), self._slower)
        if self.sheet and self.sheet.inner_mb_per_s:
            _check_slowest(self.sheet.inner_mb_per_s, self._slower)
        if self.layout:
            self._check_layout(self.layout)
        if self.knows_positions:
            self._check_known()
        elif self.seek and self.seek.over == "tracks":
            raise _wrong("seek.over", '"tracks" needs rotation.phase = "known"')
        if self.seek:
            self._check_takes_time(self.seek)
        return self

    def _check_layout(self, layout: Layout) -> None:
        """Check the layout against the rates.

        The layout is that of the real disk.  At the rates of the profile, the sectors of a track
        must take about one rotation.  It is not exactly one, since spare sectors are not counted.
        """
        if not self.facts:
            raise _wrong("layout.zones", "needs the disk's size: add facts.capacity_sectors")
        capacity_sectors = self.facts.capacity_sectors
        layout.check_against(capacity_sectors)
        if not (self.rotation and self.throughput):
            return
        period = exact(self.rotation.period_ms) * 10**9
        rates = self.throughput.curve(self._slower, capacity_sectors)
        for zone in layout.zones:
            track = zone.sectors * value_at(rates, zone.first)
            if not period / 2 <= track <= 2 * period:
                raise _wrong(
                    "layout.zones",
                    f"{zone.sectors} sectors from {zone.first} on take {float(track / 10**9):.3g} "
                    f"ms at that rate, and a rotation {self.rotation.period_ms:.3g} ms",
                )

    def _check_known(self) -> None:
        """Check that each sector has an angle, and that core/ supports the rotational speed."""
        assert self.rotation
        if not self.layout or not self.layout.knows_angles:
            raise _wrong("rotation.phase", '"known" needs a layout with the angles of its zones')
        if self.scaling:
            raise _wrong("scaling", "does not go with known positions: tracks have a real length")
        if not TURN_MS_MIN <= self.rotation.period_ms <= TURN_MS_MAX:
            raise _wrong(
                "rotation.period_ms",
                f"{self.rotation.period_ms} is not from {TURN_MS_MIN} to {TURN_MS_MAX}, which "
                "known positions need",
            )

    def _check_takes_time(self, seek: SeekCurve) -> None:
        """Check that a request to any sector takes at least 1 ns."""
        sector = sector_ps(max(self.throughput.mb_per_s)) * self._slower if self.throughput else 0
        rotation = exact(self.rotation.period_ms) / 2 if self.rotation else 0
        if max(exact(min(seek.ms)) * 10**6, rotation * 10**6, sector / 1000) < 1:
            raise _wrong("seek.ms", "some requests take no time at all; add a rotation")

    def _check_array(self) -> Self:
        for key in (
            "model",
            "seek",
            "sheet",
            "throughput",
            "rotation",
            "scaling",
            "layout",
            "cache",
            "buffer",
            "queue",
        ):
            if getattr(self, key):
                raise _wrong(key, "does not go with array, which has no head and no medium")
        return self

    def with_curves(self) -> Self:
        """Return the profile with the curves that are computed from its sheet."""
        if not self.sheet:
            return self
        rotation = Rotation(period_ms=self.sheet.period_ms, phase="random")
        at, ms = self.sheet.seeks()
        curves: dict[str, _Section] = {"rotation": rotation, "seek": SeekCurve(at=at, ms=ms)}
        if rates := self.sheet.rates():
            curves["throughput"] = Throughput(at=rates[0], mb_per_s=rates[1])
        return self.model_copy(update=curves)

    def __hash__(self) -> int:
        """Return a hash of the name only, since the checks contain dictionaries, which have no
        hash."""
        return hash(self.name)

    @property
    def holds_for(self) -> tuple[Ask, ...]:
        """Return the demands that have checks, all of which are within their limits."""
        return tuple(
            ask
            for ask in ASKS
            if (checks := [check for check in self.checks if ask in check.asks])
            and all(check.within for check in checks)
        )

    @property
    def queue_depth(self) -> int | None:
        """Return how many requests the device accepts at once; None means any number (an array)."""
        if self.array:
            return None
        return self.queue.depth if self.queue else 1

    @property
    def servers(self) -> int:
        """Return how many requests the device serves at once; 1 for a disk, which has one head."""
        return self.array.servers if self.array else 1

    @property
    def knows_positions(self) -> bool:
        """Return whether the model knows when each sector is under the head."""
        return self.rotation is not None and self.rotation.phase == "known"

    @property
    def _slower(self) -> Fraction:
        """Return the ratio of a sector's transfer time on the virtual disk to that on the real
        disk."""
        if not self.scaling:
            return Fraction(1)
        return Fraction(self.scaling.real_track_sectors, self.scaling.track_sectors)

    def timing(self, capacity_sectors: int, queue_depth: int = 1) -> Timing:
        """Return the timing of a virtual disk of any size.

        The model uses `queue_depth` entries of the command queue.
        """
        mechanics = self.model.timing if self.model else self._sampled_timing
        timing = mechanics(capacity_sectors)
        if self.layout and self.facts:
            timing = self._laid_out(timing, self.layout, self.facts.capacity_sectors)
        if self.queue and queue_depth > 1:
            age_ns = to_ns(self.queue.age_limit_ms, 10**6)
            timing = replace(timing, queue_depth=queue_depth, queue_age_limit_ns=age_ns)
        if self.buffer:
            hit_ns = to_ns(self.buffer.read_hit_us, 10**3)
            return replace(timing, buffer=self.buffer.timing(), hit_ns=hit_ns)
        if not self.cache:
            return timing
        cache = (self.cache.segments, self.cache.segment_sectors, self.cache.prefetch_sectors)
        return replace(timing, cache=cache, hit_ns=to_ns(self.cache.hit_us, 10**3))

    def _laid_out(self, timing: Timing, layout: Layout, real_sectors: int) -> Timing:
        """Return the timing with the tracks and, if angles are known, the tracks' angles."""
        capacity_sectors = timing.capacity_sectors
        period_ms = self.rotation.period_ms if self.rotation and self.knows_positions else None
        by_tracks = bool(self.seek and self.seek.over == "tracks")
        tracks = layout.tracks(capacity_sectors, real_sectors, period_ms, counts=by_tracks)
        timing = replace(timing, tracks=tracks, switch_ns=to_ns(layout.switch_ms, 10**6))
        if period_ms is None:
            return timing
        return replace(timing, transfer=layout.transfer(period_ms, tracks, capacity_sectors))

    def _sampled_timing(self, capacity_sectors: int) -> Timing:
        assert self.seek
        rotation, throughput = self.rotation, self.throughput
        rotation_ms = exact(rotation.period_ms) if rotation else Fraction(0)
        return Timing(
            capacity_sectors=capacity_sectors,
            intercept_ns=0,
            seek=self.seek.curve(capacity_sectors),
            transfer=throughput.curve(self._slower, capacity_sectors) if throughput else (),
            rotation_ns=round(rotation_ms * 10**6),
            random_phase=rotation is not None and rotation.phase == "random",
        )


def _check_line(key: str, values: Sequence[float], at: Sequence[float] | None) -> None:
    if len(values) < 2:
        raise _wrong(key, f"a curve takes two values or more, not {len(values)}")
    if at is None:
        return
    check_places(at, len(values))
    if at[-1] != 1:
        raise _wrong("at", f"ends at {at[-1]}, not at 1")


def _check_zones(key: str, values: Sequence[float], at: Sequence[float] | None) -> None:
    if at is None:
        raise _wrong("at", "is missing: where does each zone begin?")
    if not 1 <= len(values) <= ZONES_MAX:
        raise _wrong(key, f"has {len(values)} zones, not from 1 to {ZONES_MAX}")
    check_places(at, len(values))
    if at[-1] == 1:
        raise _wrong("at", "a zone begins at 1, where the disk ends")


def _check_slowest(mb_per_s: float, slower: Fraction) -> None:
    if sector_ps(mb_per_s) * slower > SECTOR_PS_MAX:
        least = float(sector_ps(1) * slower / SECTOR_PS_MAX)
        raise _wrong("throughput.mb_per_s", f"{mb_per_s} is less than {least:g}, the slowest")


def _samples(at: Sequence[float] | None, values: Sequence[Fraction]) -> list[Sample]:
    """Return values, each with its location on the disk; by default they are evenly spread."""
    spread = (Fraction(i, max(1, len(values) - 1)) for i in range(len(values)))
    places = spread if at is None else map(exact, at)
    return list(zip(places, values, strict=True))


def unmodelled(name: str, facts: DiskFacts | None, takes: int) -> DiskProfile:
    """Make a profile for a disk of this machine, which accepts `takes` requests at once.

    The profile has no timing, since the disk's times are measured.
    """
    return DiskProfile.model_construct(
        name=name,
        summary=f"{facts.vendor} {facts.model}" if facts else "",
        queue=CommandQueue.model_construct(depth=takes),
        facts=facts,
    )


def load(name_or_file: str) -> DiskProfile:
    """Return the profile called NAME in profiles/, or the profile in FILE.toml."""
    if name_or_file.endswith(".toml"):
        return read(Path(name_or_file))
    return read(pick("disk", name_or_file, catalogue()))


def catalogue() -> dict[str, Path]:
    """Return the files of the disks that come with the project, by name."""
    files = {file.stem: file for file in profiles_dir().glob("*.toml")}
    return {name: files[name] for name in sorted(files)}


def read(file: Path) -> DiskProfile:
    """Parse and check one profile; the message of an error is one line with file and key."""
    document = _parse(file)
    if "name" in document:
        raise UserError(f"{file}: name: not a key of a profile; the disk is named after the file")
    for key, instead in DROPPED.items():
        if _has(document, key.split(".")):
            raise UserError(f"{file}: {key}: is no longer a key: {instead}")
    try:
        return DiskProfile.model_validate(
            {**document, "name": file.stem}, context={"folder": file.parent}
        ).with_curves()
    except ValidationError as error:
        raise UserError(f"{file}: {_first_reason(error)}") from None


def _has(table: Any, path: Sequence[str]) -> bool:
    """Return whether the table has the key at this path of nested tables."""
    for name in path:
        if not isinstance(table, dict) or name not in table:
            return False
        table = table[name]
    return True


def _parse(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(
            f"{file}: {error.strerror or error}; --disk needs a name or a file"
        ) from None
    except ValueError as error:
        raise UserError(f"{file}: not TOML: {' '.join(str(error).split())}") from None


def _first_reason(error: ValidationError) -> str:
    first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    context = first.get("ctx", {})
    if first["type"] == "wrong":
        key = ".".join(str(part) for part in (*first["loc"], context["key"]) if part != "")
        return f"{key}: {context['reason']}"
    key = ".".join(str(part) for part in first["loc"])
    reasons = {
        "missing": "is missing",
        "extra_forbidden": f"is not a key of a profile: {_nearest_key(first['loc'])}",
        "tuple_type": f"input should be an array, not {brief(first['input'])}",
        "too_long": f"has more than {context.get('max_length')} values",
    }
    reason = reasons.get(first["type"]) or f"{first['msg']}, not {brief(first['input'])}"
    return f"{key}: {reason[0].lower()}{reason[1:]}"


def _nearest_key(place: tuple[int | str, ...]) -> str:
    """Return a hint for a message about an unknown key: the known keys of the section."""
    section: Any = DiskProfile
    for name in place[:-1]:
        field = section.model_fields.get(name)
        kinds = (field.annotation, *get_args(field.annotation)) if field else ()
        section = next((kind for kind in kinds if hasattr(kind, "model_fields")), section)
    return nearest(str(place[-1]), set(section.model_fields) - {"name"})
