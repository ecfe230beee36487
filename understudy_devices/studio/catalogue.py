# SPDX-License-Identifier: MIT
"""The options, workloads and disks that the simulator in the page offers, as JSON.

The declarations are those of the command line, so names, defaults and ranges are the same.  A
number that may have more than 53 bits is a string of digits.  Disks have the default virtual size.

Usage: python -m understudy_devices.studio.catalogue FOLDER
"""

import dataclasses
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from understudy_devices.api import options
from understudy_devices.ask.device import Device
from understudy_devices.ask.experiment import Run
from understudy_devices.ask.parameters import KEY, Parameter, Parameters
from understudy_devices.ask.policies import KINDS, PREFETCH, REPLACEMENT
from understudy_devices.ask.schedulers import taken
from understudy_devices.ask.setting import OnSim
from understudy_devices.ask.tunables import following
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.ask.workloads.surge import SECTORS_PER_BLOCK, layout
from understudy_devices.ask.workloads.workload import SECTOR_BYTES, Workload
from understudy_devices.base import sources
from understudy_devices.base.progress import silent
from understudy_devices.device import profile
from understudy_devices.files import image
from understudy_devices.native import registry
from understudy_devices.native.drive import Drive

# The workloads whose simulated version needs no file of the user's.
OFFERED = ("random", "sequential", "surge-direct", "surge-buffered", "concurrent-read", "poisson")
LEFT_OUT = ("weights", "virtual_bytes")
_OF_DEVICE: dict[str, Any] = {each.name: each.default for each in dataclasses.fields(Device)}
CAPACITY_BYTES: int = _OF_DEVICE["virtual_bytes"]


def write(folder: Path) -> None:
    """Write catalogue.json, files.json, headers.json and disks/NAME.json."""
    (folder / "disks").mkdir(parents=True, exist_ok=True)
    _write(folder / "catalogue.json", catalogue())
    _write(folder / "files.json", _files())
    _write(folder / "headers.json", headers())
    for name in profile.catalogue():
        _write(folder / "disks" / f"{name}.json", disk(name))


def catalogue() -> dict[str, Any]:
    """Return the options by slot, the workloads, and the disks' names."""
    return {
        "capacity_sectors": CAPACITY_BYTES // SECTOR_BYTES,
        "defaults": {"disk": options.DISK, "workload": options.WORKLOAD},
        "policies": {"prefetcher": PREFETCH.default, "replacer": REPLACEMENT.default},
        "schedulers": registry.ours(),
        "taken": sorted(set(taken())),
        "template": template(),
        "workloads": [_workload(WORKLOADS[name]) for name in OFFERED],
        "run": _options([Run]),
        "device": _options([Device]),
        "simulator": _options([OnSim]),
        "disks": [_summary(name) for name in sorted(profile.catalogue())],
    }


def template() -> str:
    """Return the scheduler that a user's file begins as: the file to copy, with another name."""
    return re.sub(r"fcfs(?!\.md)", "mine", registry.our_file(registry.FOLDER, "fcfs").text.decode())


def headers() -> dict[str, str]:
    """Return the headers that a scheduler may include, by their paths in core/."""
    known = sources.matching(*sources.CORE_HEADERS)
    return {name.removeprefix("core/"): text.decode() for name, text in known.items()}


def disk(name: str) -> dict[str, Any]:
    """Return a disk as numbers and arrays of the simulator's module, and what depends on it."""
    disk = profile.load(name)
    if disk.array:
        numbers = {
            "input.array.servers": disk.array.servers,
            "input.array.mean_service_ns": disk.array.service_ns,
            "input.array.exponential": int(disk.array.distribution == "exponential"),
        }
        return {"numbers": _texts(numbers), "arrays": {}, "following": {}}
    timing = Device(disk=disk).timing(CAPACITY_BYTES // SECTOR_BYTES)
    drive = Drive(timing)
    return {
        "numbers": _texts(drive.numbers("device.drive")),
        "arrays": {
            where: list(map(str, values)) for where, values in drive.placed("device.drive").items()
        },
        "following": {
            scheduler: _texts(values)
            for scheduler in registry.ours()
            if (values := following(scheduler, timing))
        },
    }


def _workload(workload: type[Workload]) -> dict[str, Any]:
    return {
        "name": workload.name,
        "summary": workload.summary,
        "options": _options([workload]),
    }


def _options(slots: Iterable[type[Parameters]]) -> list[dict[str, Any]]:
    return [
        _option(field, field.metadata[KEY])
        for slot in slots
        for field in dataclasses.fields(slot)
        if KEY in field.metadata
        and field.name not in LEFT_OUT
        and "sim" in field.metadata[KEY].platforms
    ]


def _option(field: "dataclasses.Field[Any]", declared: Parameter) -> dict[str, Any]:
    if field.name in KINDS:
        return _choice(field.name, declared)
    default = None if field.default is dataclasses.MISSING else field.default
    return {
        "field": field.name,
        "option": declared.option,
        "help": declared.help,
        "kind": "text" if declared.parse else declared.kind.__name__,
        "low": declared.low,
        "high": None if declared.high is None else str(declared.high),
        "unit": declared.unit,
        "default": default,
    }


def _choice(field: str, declared: Parameter) -> dict[str, Any]:
    """Return the option of a policy, whose value is the place of one of the project's names."""
    kind = KINDS[field]
    names = kind.ours()
    return {
        "field": field,
        "option": declared.option,
        "help": declared.help,
        "kind": "choice",
        "choices": names,
        "low": 0,
        "high": str(len(names) - 1),
        "unit": "",
        "default": names.index(kind.default),
    }


def _summary(name: str) -> dict[str, Any]:
    disk = profile.load(name)
    at_once = Device(disk=disk, queue_depth=2) if disk.queue else None
    queued = at_once.timing(CAPACITY_BYTES // SECTOR_BYTES) if at_once else None
    return {
        "name": name,
        "servers": disk.servers,
        "is_array": bool(disk.array),
        "most_at_once": disk.queue_depth,
        "queue_age_limit_ns": str(queued.queue_age_limit_ns) if queued else None,
    }


def _files() -> dict[str, list[int]]:
    """Return the layout of SURGE's files, in a form that compresses well.

    `bytes` and `extents` have an entry for each file, the others have one for each extent: `gap` is
    the number of sectors after the previous extent (negative: before it), and `length` is 0 if the
    extent is the whole file in blocks.
    """
    files = layout(CAPACITY_BYTES, silent)
    first, start, length = (
        np.asarray(column, np.int64) for column in (files.first, files.start, files.length)
    )
    extents = np.diff(first)
    end = np.concatenate([[0], (start + length)[:-1]])
    blocks = -(-np.asarray(files.bytes, np.int64) // image.BLOCK_BYTES) * SECTORS_PER_BLOCK
    whole = np.repeat(blocks, extents)
    return {
        "bytes": list(map(int, files.bytes)),
        "extents": extents.tolist(),
        "gap": (start - end).tolist(),
        "length": np.where(length == whole, 0, length).tolist(),
    }


def _texts(numbers: dict[str, int]) -> dict[str, str]:
    return {name: str(value) for name, value in numbers.items()}


def _write(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
