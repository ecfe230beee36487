# SPDX-License-Identifier: MIT
"""Seek time and throughput of two drives, as their sampling method sees them: SIGCSE 2006
Figure 1."""

import numpy as np
import numpy.typing as npt

from understudy_devices.api.profile import Profiled, profile
from understudy_devices.device.profile import load
from understudy_devices.papers.printed import SIGCSE
from understudy_devices.profiler.targets.model import ModelTarget
from understudy_devices.reproduce import Asked, Reproduced
from understudy_devices.show import inline, picture, profiled
from understudy_devices.show.grid import Grid

PRINTED = ((SIGCSE, "Figure 1"),)
SECONDS = {"sim": 2}
DIFFERS = """
The paper's samples of its two SCSI drives are not published. Our two profiles are synthetic, and
shaped after its figure, so this shows that its method gets a curve back, and not that the drives
have these curves. The paper's text says that both drives have nearly the same seek curve, that a
short seek takes about 2 ms, that seek time is not proportional to distance, and that the IBM
drive's throughput falls toward the inner cylinders while the Seagate drive's is flat. Our times
contain a mean rotational latency, since a seek is timed by a read.
"""
METHOD = "sigcse-2006"
GIGABYTES = 36
DISKS = {"IBM": "vesper-zoned", "Seagate": "vesper-flat"}
HEADINGS = ("profile", "shortest seek (ms)", "longest (ms)", "outermost (MB/s)", "innermost")


def run(asked: Asked) -> Reproduced:
    """Sample the models of both drives."""
    found = {}
    for number, (paper, name) in enumerate(DISKS.items()):
        asked.report(name, number / len(DISKS))
        target = ModelTarget.of(load(name), GIGABYTES * 10**9 // 512)
        found[paper] = profile(target, method=METHOD)
    ends = {paper: _ends(fit) for paper, fit in found.items()}
    rows = [
        (f"{paper} (ours: {name})", (name, *(f"{value:.2f}" for value in ends[paper])))
        for paper, name in DISKS.items()
    ]
    return Reproduced(
        [Grid(HEADINGS, [rows], "the ends of the curves", words=HEADINGS[:1])],
        {
            paper: {
                key: [list(point) for point in _seen(fit, key)]
                for key in ("seek.ms", "throughput.mb_per_s")
            }
            for paper, fit in found.items()
        },
        [_drawing(DISKS[paper], fit) for paper, fit in found.items()],
    )


def _ends(fit: Profiled) -> list[float]:
    """Return the first and the last value of both curves."""
    curves = (_seen(fit, "seek.ms"), _seen(fit, "throughput.mb_per_s"))
    return [values[place] for curve in curves for values in [curve[:, 1]] for place in (0, -1)]


def _seen(fit: Profiled, key: str) -> npt.NDArray[np.float64]:
    finding = fit.finding(key)
    assert finding
    return np.array(finding.seen, float)


def _drawing(name: str, fit: Profiled) -> inline.Drawing:
    with inline.styled(profiled.STYLE):
        figure = profiled.figure(fit, name)
        picture.settle(figure)
        return inline.Drawing(f"{name}, sampled by the paper's method.", inline.svg(figure))
