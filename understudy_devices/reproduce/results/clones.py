# SPDX-License-Identifier: MIT
"""Builds in VMs whose disks are clones of one image, and in VMs with an image each (Jones 2010,
section 5.1.1)."""

from pathlib import Path
from statistics import median

from understudy_devices.base import scratch
from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import store
from understudy_devices.lab.base_image import Source
from understudy_devices.lab.settings import Settings
from understudy_devices.lab.store import Lab
from understudy_devices.papers.compute import BUILD_MINUTES
from understudy_devices.papers.printed import JONES
from understudy_devices.platforms.vm.accelerator import best
from understudy_devices.reproduce import Asked, Reproduced, build_guest
from understudy_devices.reproduce.builds import Built, build
from understudy_devices.show.grid import Grid

PRINTED = ((JONES, "section 5.1.1"),)
SECONDS = {"host": 600}
DIFFERS = """
The dissertation built Linux 2.6.30 in six VMs on one blade, under KVM, once each way. Ours is a
program of generated sources, which Debian's tcc compiles and links folder by folder, on a disk of
128 MiB; each VM builds all of it, all at once, and this is repeated. The images are dropped from
this machine's page cache before each build. What the VMs then read from its storage is the
difference between the two ways: VMs that share a base read it once, and find in the cache what
another VM has read; images of their own are read by each VM. In 2010, QEMU wrote through that
cache by default. Under TCG, translation slows the compiler and not the disk, so the disk matters
less than under KVM.
"""
VMS, ROUNDS, FOLDERS = 6, 3, 6
MEMORY_MIB = 96
MB = 1e6
WAYS = ("clones", "stand-alone")
COLUMNS = ("seconds", "slowest", "MB read", "MB on disk", "paper's minutes")


def run(asked: Asked) -> Reproduced:
    """Build both ways, in turn, so that another load disturbs both alike."""
    vms = asked.parameters.get("vms", VMS)
    rounds = asked.parameters.get("rounds", ROUNDS)
    folders = asked.parameters.get("folders", FOLDERS)
    done: dict[str, list[Built]] = {way: [] for way in WAYS}
    with scratch.folder("understudy-builds-", Path("/var/tmp")) as folder:
        asked.report("making the image", 0)
        source = build_guest.build(folder, folders)
        for turn in range(rounds):
            for number, way in enumerate(WAYS):
                share = (turn + number / 2) / rounds
                asked.report(f"round {turn + 1} of {rounds}, {vms} VMs, {way}", share)
                with scratch.folder(f"{way}-", folder) as labs:
                    done[way].append(build(_labs(labs, source, vms, way)))
    if len({one for each in done.values() for built in each for one in built.sums}) != 1:
        raise RunFailed("the VMs have built different programs from the same sources")
    rows = [(way, _row(done[way], way)) for way in WAYS]
    accelerator = best()
    sources = folders * build_guest.SOURCES_PER_FOLDER
    title = (
        f"builds of {sources} sources in {vms} VMs at once, medians of {rounds}, under "
        f"{accelerator.upper()}"
    )
    figures = {
        "vms": vms,
        "rounds": rounds,
        "sources": sources,
        "accelerator": accelerator,
        "ways": {
            way: {
                "seconds": [list(built.seconds) for built in done[way]],
                "read_bytes": [built.read_bytes for built in done[way]],
                "disk_bytes": [built.disk_bytes for built in done[way]],
                "paper_minutes": BUILD_MINUTES[way],
            }
            for way in WAYS
        },
    }
    return Reproduced([Grid(COLUMNS, [rows], title)], figures, sentences=[_sentence(done)])


def _row(done: list[Built], way: str) -> tuple[str, ...]:
    return (
        f"{_median(done):.1f}",
        f"{median(max(built.seconds) for built in done):.1f}",
        f"{median(built.read_bytes for built in done) / MB:.0f}",
        f"{median(built.disk_bytes for built in done) / MB:.0f}",
        f"{BUILD_MINUTES[way]}",
    )


def _sentence(done: dict[str, list[Built]]) -> str:
    """Say how much longer the clones took, and how much that varies."""
    ratios = sorted(
        _median([clones]) / _median([alone])
        for clones, alone in zip(*(done[way] for way in WAYS), strict=True)
    )
    paper = BUILD_MINUTES["clones"] / BUILD_MINUTES["stand-alone"]
    return (
        f"On clones a build took {median(ratios):.2f} times as long as on images of their own, "
        f"{ratios[0]:.2f} to {ratios[-1]:.2f} in single rounds; in the dissertation, {paper:.2f}."
    )


def _median(done: list[Built]) -> float:
    return median(seconds for built in done for seconds in built.seconds)


def _labs(folder: Path, source: Source, vms: int, way: str) -> list[Lab]:
    """Make one lab whose teams share a base, or for each team a lab with a base of its own."""
    names = [f"team{number:02}" for number in range(1, vms + 1)]
    groups = [names] if way == "clones" else [[name] for name in names]
    settings = Settings(memory_mib=MEMORY_MIB)
    return [
        store.create(folder, f"lab{number:02}", source, {name: [] for name in group}, settings)
        for number, group in enumerate(groups, 1)
    ]
