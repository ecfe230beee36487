# SPDX-License-Identifier: MIT
"""Service time by distance, and the line fitted to it: PERFORM 2010 Figure 1, which is Jones 2010
Figure 4.2; also the on-board cache of PERFORM 2010 section 5."""

from understudy_devices.api.profile import profile
from understudy_devices.device.profile import load
from understudy_devices.papers.printed import JONES, PERFORM, SLIDES
from understudy_devices.papers.tables import PAPERS_DISK
from understudy_devices.profiler.targets.model import ModelTarget
from understudy_devices.reproduce import Asked, Reproduced
from understudy_devices.show import inline, picture, profiled
from understudy_devices.show.grid import Grid

PRINTED = ((PERFORM, "Figure 1"), (SLIDES, "test platforms"), (JONES, "Figure 4.2"))
SECONDS = {"sim": 2}
DIFFERS = """
The papers measured a Seagate Cheetah 15K.4, which we do not have. We measure our model of it, which
is made from the papers' line, by the papers' method: 100,000 random pages, filtered and fitted. So
this shows that the method gets a drive's line and cache back from requests alone, and not that the
Cheetah has this line. The papers' points have noise of a rotation, 4 ms; the model's rotation is
part of its line. The papers took the cache's sizes from the drive's manual; we probe for them.
"""
METHOD = "perform-2010"
PAPER = {
    "model.intercept_ms": 4.25,
    "model.full_seek_ms": 5.25,
    "cache.segments": 64,
    "cache.segment_sectors": 221,
    "cache.prefetch_sectors": 64,
    "cache.hit_us": 250,
}


def run(asked: Asked) -> Reproduced:
    """Measure the model of the papers' disk."""
    asked.report("100,000 random pages", 0)
    disk = load(PAPERS_DISK)
    assert disk.facts
    found = profile(ModelTarget.of(disk, disk.facts.capacity_sectors), method=METHOD)
    ours = {key: found.value(key) for key in PAPER}
    rows = [(key, (f"{paper:g}", f"{ours[key]:.5g}")) for key, paper in PAPER.items()]
    with inline.styled(profiled.STYLE):
        figure = profiled.figure(found, disk.name)
        picture.settle(figure)
        drawing = inline.Drawing(
            "Service time by distance, filtered, and the line fitted to it.", inline.svg(figure)
        )
    return Reproduced(
        [Grid(("paper", "ours"), [rows], "the line and the cache")],
        {"fitted": ours, "requests": found.requests},
        [drawing],
    )
