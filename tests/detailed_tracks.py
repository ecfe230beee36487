# SPDX-License-Identifier: MIT
"""The [layout] zones of a detailed drive (oracle/detailed), derived from the drive's parameters.

oracle/detailed/layout.c defines the order of tracks: either cylinder by cylinder with all heads, or
a band of cylinders on one surface and then back on the next.  The last band of a drive's zone may
be smaller, and becomes a zone of its own here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from oracle.detailed.drive import SURFACE_SERPENTINE, Parameters, Zone
from understudy_devices.device.layout import Level, zones_text
from understudy_devices.device.layout import Zone as Recorded
from understudy_devices.device.profile import DiskProfile


@dataclass(frozen=True)
class Part:
    """Tracks of a zone with one rule for skews; `heads_before` and `cylinders_before` count the
    skews before the part."""

    tracks: int
    heads_before: int
    cylinders_before: int
    skew: int
    cylinder: int
    cylinder_skew: int
    band: int
    band_skew: int


def _tracks(parameters: Parameters, zone: Zone) -> int:
    return zone.cylinders * parameters.heads - zone.spare_tracks


def _by_cylinder(parameters: Parameters, zone: Zone) -> Iterator[Part]:
    yield Part(
        tracks=_tracks(parameters, zone),
        heads_before=0,
        cylinders_before=0,
        skew=zone.track_skew,
        cylinder=parameters.heads,
        cylinder_skew=zone.cylinder_skew,
        band=0,
        band_skew=0,
    )


def _by_surface(parameters: Parameters, zone: Zone) -> Iterator[Part]:
    heads, tracks = parameters.heads, _tracks(parameters, zone)
    size = parameters.band_cylinders
    if size == 0 or size > zone.cylinders:
        size = zone.cylinders
    bands, rest = divmod(zone.cylinders, size)
    whole = min(tracks, bands * size * heads)
    yield _surfaces(zone, heads, size, whole, bands_before=0, before=size)
    if tracks > whole:
        yield _surfaces(zone, heads, rest, tracks - whole, bands_before=bands, before=size)


def _surfaces(
    zone: Zone, heads: int, size: int, tracks: int, *, bands_before: int, before: int
) -> Part:
    """Return the part with bands of `size` cylinders, after bands of `before` cylinders."""
    cylinders_before = bands_before * ((before - 1) * heads + 1)
    return Part(
        tracks=tracks,
        heads_before=bands_before * before * heads - cylinders_before,
        cylinders_before=cylinders_before,
        skew=zone.cylinder_skew,
        cylinder=size,
        cylinder_skew=zone.track_skew,
        band=size * heads,
        band_skew=zone.cylinder_skew,
    )


def zones(parameters: Parameters, *, surfaces: bool = False) -> list[Recorded]:
    """Return the zones of the whole disk."""
    parts = []
    first = 0
    for zone in parameters.zone:
        slots = zone.sectors + zone.spare_sectors

        def turns(skew: int, zone: Zone = zone, slots: int = slots) -> float:
            return (skew + zone.spare_sectors) % slots / slots

        by = _by_surface if parameters.layout == SURFACE_SERPENTINE else _by_cylinder
        for part in by(parameters, zone):
            skews = part.heads_before * zone.track_skew + part.cylinders_before * zone.cylinder_skew
            parts.append(
                Recorded(
                    first,
                    zone.sectors,
                    slots,
                    skews % slots / slots,
                    turns(part.skew),
                    Level(part.cylinder, turns(part.cylinder_skew)),
                    Level(part.band, turns(part.band_skew)) if part.band else None,
                    surfaces,
                )
            )
            first += part.tracks * zone.sectors
    return parts


def capacity(parameters: Parameters) -> int:
    """Return the drive's capacity in sectors."""
    return sum(_tracks(parameters, zone) * zone.sectors for zone in parameters.zone)


def document(parameters: Parameters, *, surfaces: bool = False, **sections: Any) -> dict[str, Any]:
    """Return a profile with these positions; seeks take no time unless a section says otherwise."""
    return {
        "name": "detailed",
        "seek": {"ms": [0.0, 0.0]},
        "rotation": {"period_ms": parameters.period_ns / 1e6, "phase": "known"},
        "layout": {"zones": zones_text(zones(parameters, surfaces=surfaces))},
        "facts": {"vendor": "", "model": "", "capacity_sectors": capacity(parameters)},
    } | sections


def profiled(parameters: Parameters, **sections: Any) -> DiskProfile:
    """Return the document as a checked profile."""
    return DiskProfile.model_validate(document(parameters, **sections))
