# SPDX-License-Identifier: MIT
"""A drawn disk: a profile that resembles a real disk and that no other student has.

Short seeks follow a square root and long ones a line; zones become slower towards the spindle.
docs/disks.md has the ranges of real drives, from which these are taken.
"""

from math import sqrt
from pathlib import Path

from understudy_devices.base import scratch
from understudy_devices.course.draws import Draws
from understudy_devices.device import profile
from understudy_devices.device.profile import DiskProfile

RPM = (5400, 7200, 10_000, 15_000)
SEEKS = 33
ZONES = 8
SUMMARY = "A drawn disk of {rpm:,} rpm, with seeks from {short:.2f} to {full:.2f} ms"
SCALING = "\n[scaling]\nreal_track_sectors = 800\ntrack_sectors = 8\n"


def text(draws: Draws, *, small: bool = False, cache: bool = False) -> str:
    """Return the profile as TOML; a `small` disk is scaled for 128 KB (SIGCSE 2006, section
    2.3)."""
    rpm = draws.choice("rpm", RPM)
    short = draws.between("short seek", 60, 220) / 100
    full = draws.between("full seek", 700, 1900) / 100
    knee = draws.between("knee", 15, 40) / 100
    outer = draws.between("outer rate", 400, 1600) / 10
    inner = outer * draws.between("inner rate", 45, 75) / 100
    fractions = [number / (SEEKS - 1) for number in range(SEEKS)]
    seeks = [f"{_seek_ms(fraction, short, full, knee):.3f}" for fraction in fractions]
    places = [number / ZONES for number in range(ZONES)]
    rates = [f"{outer + (inner - outer) * place:.1f}" for place in places]
    parts = [
        f'summary = "{SUMMARY.format(rpm=rpm, short=short, full=full)}"\n',
        f"\n[seek]\nms = [{', '.join(seeks)}]\n",
        "\n[throughput]\nzones = true\n",
        f"at = [{', '.join(map(str, places))}]\nmb_per_s = [{', '.join(rates)}]\n",
        f'\n[rotation]\nperiod_ms = {60_000 / rpm:.4f}\nphase = "random"\n',
    ]
    if cache:
        segments = draws.choice("segments", (8, 16, 32, 64))
        ahead = draws.choice("prefetch", (32, 64, 128))
        parts.append(
            f"\n[cache]\nsegments = {segments}\nsegment_sectors = {2 * ahead}\n"
            f"prefetch_sectors = {ahead}\nhit_us = {draws.between('hit', 120, 300)}\n"
        )
    return "".join([*parts, SCALING if small else ""])


def _seek_ms(fraction: float, short: float, full: float, knee: float) -> float:
    """Return a seek time: a square root up to the knee, then the line of the same slope."""
    reach = sqrt(knee) + (1 - knee) / (2 * sqrt(knee))
    grow = (full - short) / reach
    if fraction <= knee:
        return short + grow * sqrt(fraction)
    return short + grow * (sqrt(knee) + (fraction - knee) / (2 * sqrt(knee)))


def read(toml: str, name: str) -> DiskProfile:
    """Return the profile of such a text, with this name."""
    with scratch.folder("understudy-drawn-") as folder:
        file = Path(folder) / f"{name}.toml"
        file.write_text(toml, encoding="utf-8")
        return profile.read(file)
