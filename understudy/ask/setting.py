# SPDX-License-Identifier: MIT
"""How an experiment is run on each platform."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from understudy.ask.parameters import Parameters, parameter

Clock = Literal["virtual", "wall"]

PAPERS_SCALE = 8.0  # k of Tables 2 and 3
HOUR_US = 3_600_000_000


def _think_scale() -> Any:
    """The field of either setting."""
    return parameter(
        1.0,
        option="--think-scale",
        help="For think times [default: as --scale; papers: 1].",
        kind=float,
        low=0,
        high=100,
    )


@dataclass(frozen=True, kw_only=True)
class OnSim(Parameters):
    """In the simulator, which has neither kernel nor processes that need the processor.

    `gap_us` is what the host needs between a completion and the next dispatch, `ask_us` what
    a process needs for itself between an answer and its next request.
    """

    name: ClassVar[str] = "sim"
    clock: ClassVar[Clock] = "virtual"
    scale: ClassVar[float] = 1.0
    controller: ClassVar[str] = "none"

    think_scale: float = _think_scale()
    gap_us: float = parameter(
        0.0,
        option="--gap",
        help="Microseconds between a completion and the next dispatch (sim).",
        kind=float,
        unit="us",
        low=0,
        high=HOUR_US,
        platforms=("sim",),
    )
    ask_us: float = parameter(
        0.0,
        option="--ask",
        help="Microseconds that a process needs between an answer and its next request (sim).",
        kind=float,
        unit="us",
        low=0,
        high=HOUR_US,
        platforms=("sim",),
    )


@dataclass(frozen=True, kw_only=True)
class OnVm(Parameters):
    """In a VM.

    `scale` is the papers' k: the disk takes k times its model's time, and everything read off the
    run is divided by k again.  `think_scale` stretches the processes' sleeps; it equals `scale`
    unless the papers' unscaled sleeps are wanted.
    """

    name: ClassVar[str] = "vm"

    clock: Clock = parameter(
        "virtual",
        option="--clock",
        help="virtual: exact and repeatable; wall: the papers' way (vm) [default: virtual].",
        kind=str,
        choices=("virtual", "wall"),
        platforms=("vm",),
    )
    scale: float = parameter(
        1.0,
        option="--scale",
        help="k, how much slower the disk runs (vm) [default: 1, wall clock 8].",
        kind=float,
        low=1,
        high=100,
        platforms=("vm",),
    )
    think_scale: float = _think_scale()
    controller: str = parameter(
        "vdisk",
        option="--controller",
        help="vdisk, null_blk, lsi53c895a, virtio-scsi or virtio-blk (vm) [default: vdisk].",
        kind=str,
        platforms=("vm",),
    )


@dataclass(frozen=True, kw_only=True)
class OnReal(Parameters):
    """On a disk of this machine, which keeps its own time."""

    name: ClassVar[str] = "real"
    clock: ClassVar[Clock] = "wall"
    scale: ClassVar[float] = 1.0
    think_scale: ClassVar[float] = 1.0
    controller: ClassVar[str] = "none"


Setting = OnSim | OnVm | OnReal
SETTINGS: dict[str, type[OnSim] | type[OnVm] | type[OnReal]] = {
    "sim": OnSim,
    "vm": OnVm,
    "real": OnReal,
}


def setting(platform: str, given: dict[str, Any]) -> Setting:
    """The platform's setting; k follows the clock, and think times follow k."""
    if platform != "vm":
        return SETTINGS[platform].of(given)
    scale = given.get("scale")
    if scale is None:
        scale = PAPERS_SCALE if given.get("clock") == "wall" else 1.0
    think = given.get("think_scale")
    return OnVm.of({**given, "scale": scale, "think_scale": scale if think is None else think})
