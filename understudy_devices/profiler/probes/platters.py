# SPDX-License-Identifier: MIT
"""Finds the layout of the platters zone by zone, from the first sector to the last.

Bisection finds the exact end of a zone's first track, which gives the track's sectors and slots,
and the skew.  Then the probe predicts the angles of tracks farther and farther away; the skews
become more exact with the distance.  The first track that deviates begins a cylinder, a band, or
another zone, and is found by bisection.  After slipped sectors the same rule continues some slots
farther; bisection finds the sector of the slip.  Sectors that follow no known rule are a separate
part.  Parts that follow the same rule become one recording zone (parts.py).  At the end the layout
is tested with random sectors (Schindler and Ganger 1999, section 3.2, ask the drive for its mapping
instead).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from understudy_devices.device.layout import SLIPS_MAX, ZONES_MAX
from understudy_devices.profiler.findings.statistics import first as first_of
from understudy_devices.profiler.findings.statistics import median
from understudy_devices.profiler.layout.layout import Layout, Unseen, Zone, centred, worded
from understudy_devices.profiler.layout.parts import LEFT_OUT_MOST, Part, by_rule, gathered, refined
from understudy_devices.profiler.probes.angles import NOISE, HeldError, Protractor
from understudy_devices.profiler.probes.hits import Hits
from understudy_devices.profiler.probes.rotation import Rotation
from understudy_devices.profiler.probes.segments import MOST as MOST_SEGMENTS
from understudy_devices.profiler.probes.segments import Segments
from understudy_devices.profiler.probes.track import measure as measure_track
from understudy_devices.profiler.probes.track import same
from understudy_devices.profiler.targets.bench import Bench

ENOUGH_ZONES = 64  # after this many zones, extrapolate how many the whole disk has
LOOKED = 400
WITHIN = 0.01  # of a rotation
LEAST_SHARE = 0.95
TOO_NOISY = WITHIN / NOISE
OF_A_SLOT = 0.3
ALIKE = 2  # times the noise: parts of one track hardly ever differ by more
FARTHER = 3  # factor from one step to the next
PARTS = 8  # of a track: a wrong track fits accidentally in one part only
CHANCES = 3
FEW = 4  # tracks
NEXT = 4  # tracks after a slip; at least one of them contains no other slip
MANY = 32  # tracks: more than a cylinder has, though not than a surface
SPARE_MOST = 0.5  # of a track, at a cylinder's end: a still shorter track has another cause
SPARE_LOOKS = (0.95, 0.8, 0.6, 0.4, 0.2, 0.05)  # of a track, to find where a track deviates
TRIES = 2
REFERENCE_TRACKS = 16


class _IrregularError(Exception):
    """The reads do not determine a layout; the message says why."""


def measure(
    bench: Bench, rotation: Rotation | None, hits: Hits | None, segments: Segments | None
) -> Layout | Unseen:
    """Measure the layout, or return the reason why it cannot be measured.

    Run this after the cache's probes: it has to recognise hits, which do not show an angle.
    """
    if rotation is None or rotation.sector_ns is None:
        return Unseen("completions have no phase")
    if not rotation.everywhere:
        return Unseen("completions have no phase after seeks")
    forget = 1 + (segments.number if segments and segments.number else MOST_SEGMENTS)
    protractor = Protractor(bench, rotation.period_ns, hits, forget)
    if protractor.noise > TOO_NOISY:
        return Unseen(f"one sector's angles are {protractor.noise:.2g} of a turn apart")
    try:
        layout = _checked(bench, protractor, _Sweep(bench, protractor).parts())
    except _IrregularError as reason:
        return Unseen(str(reason))
    except HeldError:
        return Unseen("the drive does not forget what it read")
    if isinstance(layout, Unseen) or not hits:
        return layout
    return layout.over_bus(hits.bus_sector_ns / rotation.period_ns)


def _checked(bench: Bench, protractor: Protractor, parts: list[Part]) -> Layout | Unseen:
    """Check the layout with LOOKED random sectors."""
    layout = gathered(parts, bench.capacity_sectors)
    if layout is None:
        raise _IrregularError("the first track is too short")
    right = 0
    for _ in range(LOOKED):
        sector = bench.place(1)
        turn = protractor.surely(sector)
        right += abs(centred(turn - layout.zone(sector).end(sector))) < WITHIN
    share = right / LOOKED
    if share < LEAST_SHARE:
        return Unseen(f"{share:.0%} of {LOOKED} random sectors were at the expected angle")
    return worded(replace(layout, share=share, looked=LOOKED))


class _Sweep:
    """Measures zone after zone from the first sector to the last."""

    def __init__(self, bench: Bench, protractor: Protractor) -> None:
        self._bench = bench
        self._protractor = protractor
        self._is_referring = False
        self._slots = 0  # slots of the last zone's tracks
        self._last = bench.capacity_sectors - 1

    def parts(self) -> list[Part]:
        """Return all parts of the disk that follow a rule."""
        zone, tracks = self._zone(0)
        parts, before, rules = [Part(0, zone)], zone, 1
        while tracks < self._room(zone):
            self._refer_to(parts[-1].zone, tracks)
            before = zone if zone.cylinder > 1 else before
            slip = self._slipped(zone, tracks, parts[-1].first)
            if slip:
                parts = refined(parts, zone, slip[1])
                first, zone, tracks = slip
            else:
                first = self._end(zone, tracks, parts[-1].first)
                zone, tracks, is_known = self._again(before, first, *self._zone(first))
                parts = refined(parts, before, zone) if is_known else parts
                rules += not is_known
            parts.append(Part(first, zone))
            self._check_number(rules, first / self._bench.capacity_sectors)
            if len(parts) > SLIPS_MAX:
                raise _IrregularError(f"{len(parts)} parts, a profile has room for {SLIPS_MAX}")
        return parts

    def _refer_to(self, zone: Zone, tracks: int) -> None:
        """Use the first zone with enough tracks as the reference for drift."""
        if self._is_referring or tracks < REFERENCE_TRACKS:
            return
        sectors = zone.track(REFERENCE_TRACKS) - zone.first

        def known() -> tuple[int, float]:
            sector = zone.first + self._bench.random.randrange(sectors)
            return sector, zone.end(sector)

        self._protractor.refer_to(known)
        self._is_referring = True

    def _check_number(self, zones: int, covered: float) -> None:
        if zones > ZONES_MAX or (zones >= ENOUGH_ZONES and zones > 1.2 * covered * ZONES_MAX):
            raise _IrregularError(
                f"{zones} regular parts in the first {covered:.2%} of the disk, "
                f"a profile has room for {ZONES_MAX}"
            )

    # ---- a zone ---------------------------------------------------------------------------

    def _zone(self, first: int) -> tuple[Zone, int]:
        """Return the zone that begins at `first`, and its number of tracks."""
        for _ in range(TRIES):
            zone, is_followed = self._first_two(first)
            if is_followed and 2 * zone.slots > self._slots:  # otherwise a completion was late
                self._slots = zone.slots
                return self._whole(zone)
        return zone.alone(), 1

    def _slipped(self, zone: Zone, bad: int, begin: int) -> tuple[int, Zone, int] | None:
        """Return where a zone continues with its slots shifted, the shifted rule, and the track up
        to which that rule is valid; None if track `bad` has another reason to deviate.

        Slots are shifted farther by slipped sectors, and back by spare sectors that compensate for
        slips.  In the latter case the drive may keep a few sectors before the shift elsewhere.
        """
        high = self._surely_bad(zone, bad)
        farther = self._shifted(zone, high) if high is not None else None
        if high is None or not farther:
            return None
        first = self._first_off(zone, max(zone.track(bad - 1), begin), high)
        after = self._shifted(zone, first)
        if not after:
            after = farther
            first = first_of(partial(self._is_in_line, after), first, high)
        track = after.tracks(first - after.first)
        if track + NEXT >= self._room(after):
            return None
        if not any(self._goes_on(after, track + more) for more in range(1, NEXT)):
            return None
        after, tracks = self._followed(after, track)
        return (first, after, tracks) if tracks > track else None

    def _end(self, zone: Zone, bad: int, begin: int) -> int:
        """Return the first sector that deviates from the rule, on track `bad` or the previous
        track.
        """
        end = zone.track(bad)
        if bad - zone.tracks(begin - zone.first) < 2:
            return end  # where the track's end was measured
        around = (end + zone.sectors // 2, end - 1, end - zone.sectors // PARTS)
        for _ in range(TRIES):  # a completion may be late
            if [self._is_off(zone, min(at, self._last)) for at in around] == [True, False, False]:
                return end
        high = self._surely_bad(zone, bad)
        if high is None:
            return end
        first = self._first_off(zone, max(zone.track(bad - 1), begin), high)
        return end if abs(first - end) < zone.sectors // PARTS else first

    def _first_off(self, zone: Zone, low: int, high: int) -> int:
        """Return the first sector from `low` to `high` that deviates from the rule; `high`
        deviates.
        """

        def is_behind(sector: int) -> bool:
            before = max(sector - zone.sectors // PARTS, low)  # a single sector may fit by accident
            return self._is_off(zone, sector) or (before > low and self._is_off(zone, before))

        return first_of(is_behind, low - 1, high)

    def _goes_on(self, zone: Zone, track: int) -> bool:
        """Return whether that track begins at the expected angle, even if sectors were slipped
        before it.
        """
        before = zone.track(track) - zone.sectors // 2
        after = self._shifted(zone, before) or zone
        return self._begins(after, track)

    def _shifted(self, zone: Zone, sector: int) -> Zone | None:
        """Return the zone, shifted by as many slots as explain the sector's angle; None if that is
        impossible.
        """
        slots = self._off_at(zone, sector) * zone.slots
        after = zone.slipped(round(slots))
        is_slip = 1 <= abs(round(slots)) <= LEFT_OUT_MOST
        return after if is_slip and not self._is_off(after, sector) else None

    def _is_in_line(self, zone: Zone, sector: int) -> bool:
        return not self._is_off(zone, sector)

    def _is_off(self, zone: Zone, sector: int) -> bool:
        return not self._is_near(zone, self._off_at(zone, sector))

    def _again(self, before: Zone, first: int, zone: Zone, tracks: int) -> tuple[Zone, int, bool]:
        """Return the rule `before` instead of `zone`, if it explains this part, for which no
        cylinders were found; also return the number of tracks, and whether `before` was used.
        """
        end = min(zone.track(tracks), self._bench.capacity_sectors)
        is_plain = zone.cylinder == 1 < before.cylinder and zone.slots == before.slots
        after = by_rule(before, Part(first, zone), end, 1) if is_plain else None
        if after:
            track = after.tracks(first - after.first)
            cylinder = (track // after.cylinder + 1) * after.cylinder
            if cylinder < self._room(after) and self._goes_on(after, cylinder):
                after, reach = self._followed(after, track)
                if after.track(reach) > end:
                    return after, reach, True
        return zone, tracks, False

    def _surely_bad(self, zone: Zone, bad: int) -> int | None:
        """Return a sector of that track that deviates from the rule; None if no tested
        sector does.
        """
        first = zone.track(bad)
        size = zone.track(bad + 1) - first
        for share in SPARE_LOOKS:
            sector = min(first + int(share * size), self._last)
            if self._is_off(zone, sector):
                return sector
        return None

    def _whole(self, zone: Zone) -> tuple[Zone, int]:
        """Return the zone, with cylinders and bands if it has any, and its number of tracks.

        If the zone begins within a cylinder, the result ends at the next cylinder.
        """
        zone, tracks = self._followed(zone, 1)
        if tracks == self._room(zone):
            return zone, tracks
        cylinders = self._by_cylinders(zone, tracks)
        if not cylinders:
            return zone, tracks
        tracks = cylinders.cylinder
        cylinders, more = self._followed(cylinders, tracks)
        if more < self._room(zone):
            bands = self._banded(cylinders, more)
            if bands:
                return bands
        is_regular = more > 2 * tracks or (tracks > MANY and more > tracks + FEW)
        return (cylinders, more) if is_regular else (zone, tracks)

    def _by_cylinders(self, zone: Zone, tracks: int) -> Zone | None:
        """Return the zone with cylinders of `tracks` tracks, or with one more, shorter track in
        each; None if such cylinders do not repeat.
        """
        trial = zone.with_cylinders(tracks, self._surely_off(zone, tracks))
        if tracks > MANY or (self._begins(trial, tracks) and self._repeats(trial, tracks)):
            return trial
        tracks, spare, skew = self._short(zone, tracks)
        trial = zone.by_cylinders(tracks, skew, spare)
        if spare > SPARE_MOST * zone.sectors:
            return None
        return trial if self._begins(trial, 2 * tracks) and self._repeats(trial, tracks) else None

    def _short(self, zone: Zone, tracks: int) -> tuple[int, int, float]:
        """Return the number of tracks of a cylinder whose last track is shorter, the spare sectors
        of this last track, and the skew after it.
        """
        last = zone.track(tracks + 1) - 1
        end = first_of(partial(self._is_off, zone), zone.track(tracks - 1), last)
        tracks = zone.tracks(end - 1 - zone.first) + 1
        off = self._off_at(
            zone, end
        )  # the deviation from a rule without spare sectors and cylinders
        spare = zone.track(tracks) - end
        skew = zone.turn(end) + off - zone.turn(end - 1) - (1 + spare) / zone.slots
        return tracks, spare, skew % 1

    def _banded(self, zone: Zone, tracks: int) -> tuple[Zone, int] | None:
        """Return the zone with bands of `tracks` tracks, or with one more, shorter track in each,
        and the zone's number of tracks; None if bands do not repeat.
        """
        bands = []
        if tracks % zone.cylinder == 0:
            skew = zone.cylinder_skew + self._surely_off(zone, tracks)
            bands.append(zone.with_bands(tracks, skew))
        number, spare, skew = self._short(zone, tracks)
        if not bands or spare > self._protractor.noise * NOISE * zone.slots:
            bands.append(zone.with_bands(number, skew, spare))
        for band in bands:
            size = band.band
            if self._begins(band, size + 1) and self._repeats(band, size):
                fit, most = self._followed(band, size)
                return (fit, most) if most > size + min(size, zone.cylinder) else None
        return None

    def _repeats(self, zone: Zone, tracks: int) -> bool:
        """Return whether the second unit of `tracks` tracks ends where the rule says: its last
        track and the track after it fit.
        """
        third = 2 * tracks
        if third >= self._room(zone):
            return True
        return all(self._fits(zone, track) is not None for track in (third - 1, third))

    def _begins(self, zone: Zone, track: int) -> bool:
        """Return whether the track begins exactly where the rule says.

        This tests the two sectors at the beginning, since these are the sectors that a slip moves
        to another track.
        """
        first = zone.track(track)
        return all(self._is_near(zone, self._off_at(zone, at)) for at in (first, first - 1))

    def _room(self, zone: Zone) -> int:
        """Return the number of whole tracks from the zone's beginning to the disk's end."""
        return zone.tracks(self._bench.capacity_sectors - zone.first)

    def _followed(self, zone: Zone, good: int) -> tuple[Zone, int]:
        """Return the zone, refined over its length, and the first track that deviates from the
        rule.

        Check bands first, then surfaces, then tracks: after a surface of another length, later
        tracks may fit by chance.
        """
        bad = self._room(zone)
        if zone.has_bands:
            zone, good, bad = self._narrowed(zone, good, bad, zone.band)
        if (zone.has_bands and not zone.band_spare) or zone.cylinder > MANY:
            zone, good, bad = self._along_surfaces(zone, good, bad)
        return self._narrowed(zone, good, bad, 1)[::2]

    def _along_surfaces(self, zone: Zone, good: int, bad: int) -> tuple[Zone, int, int]:
        """Narrow down the first bad track: test the first and last track of each surface."""
        begin = good // zone.cylinder * zone.cylinder
        while True:
            for look in (begin, begin + zone.cylinder - 1):
                if look >= bad:
                    return zone, good, bad
                off = self._fits(zone, look)
                if off is None:
                    return zone, good, look
                zone, good = zone.refined(look, off), look
            begin += zone.cylinder

    def _narrowed(self, zone: Zone, good: int, bad: int, unit: int) -> tuple[Zone, int, int]:
        """Narrow down the first bad track: test the last track of units of `unit` tracks, first in
        growing steps, then by bisection.
        """
        low, high, step = (good + 1) // unit, bad // unit + 1, 1
        while high - low > 1:
            look = min(low + step, high - 1)
            off = self._fits(zone, look * unit - 1)
            if off is None:
                high = look
                break
            zone, low, step = zone.refined(look * unit - 1, off), look, FARTHER * step
        while high - low > 1:
            look = (low + high) // 2
            off = self._fits(zone, look * unit - 1)
            if off is None:
                high = look
            else:
                zone, low = zone.refined(look * unit - 1, off), look
        return zone, max(good, low * unit - 1), min(bad, high * unit - 1)

    # ---- tracks ---------------------------------------------------------------------------

    def _fits(self, zone: Zone, track: int) -> float | None:
        """Return the deviation of the track from the rule; None if the track does not fit.

        A track fits if two of its parts agree, or three of four.  A part of a track with another
        length may fit by chance, but not all of its parts do.
        """
        offs = [self._off(zone, track, part) for part in (6, 0)]
        if any(self._is_near(zone, off) for off in offs) and len(self._alike(zone, offs)) < 2:
            offs += [self._off(zone, track, part) for part in (5, 3)]
        alike = self._alike(zone, offs)
        return sum(alike) / len(alike) if len(alike) > len(offs) / 2 else None

    def _alike(self, zone: Zone, offs: Sequence[float]) -> list[float]:
        """Return the deviations that fit the rule, without outliers from the median."""
        near = [off for off in offs if self._is_near(zone, off)]
        far = max(OF_A_SLOT / zone.slots, ALIKE * self._protractor.noise)
        return [off for off in near if abs(off - median(near)) < far]

    def _off(self, zone: Zone, track: int, part: int = 0) -> float:
        """Return the deviation at a random sector of the eighth `part` of the track, in
        rotations.
        """
        first = zone.track(track)
        room = max(1, (zone.track(track + 1) - first) // PARTS)
        begin = first + part * room
        for _ in range(CHANCES):
            sector = min(
                begin + self._bench.random.randrange(room), self._bench.capacity_sectors - 1
            )
            turn = self._protractor.end(sector)
            if turn is not None:
                return centred(turn - zone.end(sector))
        return self._off_at(zone, sector)

    def _off_at(self, zone: Zone, sector: int) -> float:
        """Return how much later the sector ends than predicted, in rotations."""
        return centred(self._protractor.surely(sector) - zone.end(sector))

    def _surely_off(self, zone: Zone, track: int) -> float:
        """Return the median of three measurements of the track's deviation."""
        return sorted(self._off(zone, track) for _ in range(3))[1]

    def _is_near(self, zone: Zone, off: float) -> bool:
        return abs(off) < max(OF_A_SLOT / zone.slots, NOISE * self._protractor.noise)

    # ---- the first track ------------------------------------------------------------------

    def _first_two(self, first: int) -> tuple[Zone, bool]:
        """Return a zone in which all tracks are like the first track, and whether the second track
        is.
        """
        capacity_sectors = self._bench.capacity_sectors
        track = measure_track(self._protractor, first, capacity_sectors)
        angle = (track.begin - 1 / track.slots) % 1
        zone = Zone.even(first, track.sectors, track.slots, angle, 0.0)
        second = first + track.sectors
        if second + track.sectors > capacity_sectors:
            return zone, False
        skew = self._off_at(zone, second) % 1
        zone = Zone.even(first, track.sectors, track.slots, angle, skew)
        return zone, self._is_second(zone, second)

    def _is_second(self, zone: Zone, second: int) -> bool:
        """Return whether the second track ends where expected: its last sector is on it, and the
        next sector is not.
        """
        near = same(self._protractor, zone.slots)
        last, behind = second + zone.sectors - 1, second + zone.sectors
        there = zone.end(last)
        if abs(centred(self._protractor.surely(last) - there)) > near:
            return False
        if abs(centred(zone.skew)) < near or behind == self._bench.capacity_sectors:
            return True
        off = centred(self._protractor.surely(behind) - there - 1 / zone.slots)
        return abs(off) > near
