# SPDX-License-Identifier: MIT
"""Converts the data that a disk and the kernel report to a profile's [facts] and its comments."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from understudy_devices.profiler.findings.finding import Finding, not_seen
from understudy_devices.profiler.targets.disk import in_use, scsi
from understudy_devices.profiler.targets.disk.scsi import Said

ON = {True: "on", False: "off", None: "unknown"}
UNSAID = "the device does not say"
NAMES = ("source", "vendor", "model", "capacity_sectors", "rpm")
KEYS = {name: f"facts.{name}" for name in NAMES}


def ask(descriptor: int, sys: Path = in_use.SYS) -> Said:
    """Return the disk's own report, completed with the kernel's data; an empty report for a
    file.
    """
    status = os.fstat(descriptor)
    if not stat.S_ISBLK(status.st_mode):
        return Said()
    return scsi.ask(descriptor).or_else(kernel(status.st_rdev, sys))


def kernel(device: int, sys: Path = in_use.SYS) -> Said:
    """Return the data about the disk in /sys."""
    disk = sys / "dev" / "block" / in_use.number(device)
    vendor, model = (_line(disk / "device" / name) for name in ("vendor", "model"))
    turns = {"1": True, "0": False}.get(_line(disk / "queue" / "rotational") or "")
    caches = {"write back": True, "write through": False}
    return Said(
        vendor=None if (vendor or "").startswith("0x") else vendor,
        model=model,
        write_cache=caches.get(_line(disk / "queue" / "write_cache") or ""),
        rotates=turns,
    )


def findings(report: Said, capacity_sectors: int) -> list[Finding]:
    """Return the [facts] section; without a model name, it is "not seen"."""
    if not report.model:
        return [not_seen(KEYS["model"], f"the device has no name; {settings(report)}")]
    rpm = Finding(KEYS["rpm"], report.rpm) if report.rpm else not_seen(KEYS["rpm"], UNSAID)
    return [
        Finding(KEYS["source"], f"the device's own word; {settings(report)}"),
        Finding(KEYS["vendor"], report.vendor or "unknown"),
        Finding(KEYS["model"], report.model),
        Finding(KEYS["capacity_sectors"], capacity_sectors),
        rpm,
    ]


def said_better(others: Sequence[Finding], own: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings `others` and `own`; values of `own` replace those with the same keys."""
    keys = {each.key for each in own if each.value is not None}
    return (*(each for each in others if each.key not in keys), *own)


def settings(report: Said) -> str:
    """Return the disk's settings in words: its caches, and whether it rotates."""
    turns = {True: "it turns", False: "it does not turn", None: "whether it turns unknown"}
    return (
        f"write cache {ON[report.write_cache]}, read cache {ON[report.read_cache]}, "
        f"{turns[report.rotates]}"
    )


def _line(file: Path) -> str | None:
    try:
        return scsi.text(file.read_bytes()[:256])
    except OSError:
        return None
