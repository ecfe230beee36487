# SPDX-License-Identifier: MIT
"""Finds the requests that cost a device time, by feature, as the simulator does (sim/demand.h)."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from understudy_devices._core import lib

PAGE_SECTORS: int = lib.DEMAND_PAGE_SECTORS
LONG_SECTORS: int = lib.DEMAND_LONG_SECTORS
PAUSE_NS: int = lib.DEMAND_PAUSE_NS
REST_NS: int = lib.DEMAND_REST_NS
NEAR_SECTORS: int = lib.DEMAND_NEAR_SECTORS
BESIDE_SECTORS: int = lib.DEMAND_BESIDE_SECTORS
ENDS: int = lib.DEMAND_ENDS
PLACES: int = lib.DEMAND_PLACES
NAMES = (
    "written",
    "sized",
    "long_ones",
    "sequential",
    "streamed",
    "again",
    "near",
    "beside",
    "paused",
    "rested",
    "met_busy",
)

Integers = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def asking(
    write: Bools, sector: Integers, sectors: Integers, idle_ns: Integers, met_busy: Bools
) -> Mapping[str, Bools]:
    """Return, for each feature in NAMES, which requests have it.

    The requests are in order of completion. idle_ns: how long the device was idle before each
    request. met_busy: did the request arrive while the device was busy?
    """
    end = sector + sectors
    last = np.concatenate([[-NEAR_SECTORS], end[:-1]])
    last_begin = np.concatenate([[-NEAR_SECTORS], sector[:-1]])
    sequential = sector == last
    streamed = _noted(sector, end, ENDS) & ~sequential
    again = _noted(sector, sector, PLACES) & ~(sequential | streamed)
    near = (np.abs(sector - last) < NEAR_SECTORS) & ~(sequential | streamed | again)
    outside = (sector < last_begin) | (sector > last)
    return {
        "written": write,
        "sized": sectors != PAGE_SECTORS,
        "long_ones": sectors > LONG_SECTORS,
        "sequential": sequential,
        "streamed": streamed,
        "again": again,
        "near": near,
        "beside": (streamed | again) & outside & (np.abs(sector - last) < BESIDE_SECTORS),
        "paused": idle_ns >= PAUSE_NS,
        "rested": idle_ns >= REST_NS,
        "met_busy": met_busy,
    }


def counts(asking: Mapping[str, Bools]) -> dict[str, int]:
    """Return, for each feature, the number of requests that have it."""
    return {name: int(asking[name].sum()) for name in NAMES}


def _noted(addresses: Integers, noted: Integers, slots: int) -> Bools:
    """Return which requests find their address in its slot of a hash table.

    Each request then stores the address `noted` in that address's slot.
    """
    writers, readers = (
        place // PAGE_SECTORS % slots * (len(addresses) + 1) + np.arange(len(addresses))
        for place in (noted, addresses)
    )
    by_slot = np.argsort(writers)
    last = np.searchsorted(writers[by_slot], readers) - 1
    hits: Bools = (last >= 0) & (noted[by_slot[np.maximum(last, 0)]] == addresses)
    return hits
