# SPDX-License-Identifier: MIT
"""The settings of each platform."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

from understudy_devices.ask.parameters import Parameters, parameter

Clock = Literal["virtual", "wall"]

SCALE_MAX = 100
HOUR_US = 3_600_000_000


def _think_scale() -> Any:
    """Return the field for --think-scale, which the simulator and the VM have."""
    return parameter(
        1.0,
        option="--think-scale",
        help="Factor for think times [default: the value of --scale; papers: 1].",
        kind=float,
        low=0,
        high=100,
    )


@dataclass(frozen=True, kw_only=True)
class OnSim(Parameters):
    """The simulator, which has neither a kernel nor processes that use processor time.

    `gap_us` is the host's time between a completion and the next dispatch.  `ask_us` is the time
    that a process itself spends between an answer and its next request.
    """

    name: ClassVar[str] = "sim"
    clock: ClassVar[Clock] = "virtual"
    scale: ClassVar[float] = 1.0
    controller: ClassVar[str] = "none"
    to_find: ClassVar[tuple[str, ...]] = ()

    think_scale: float = _think_scale()
    gap_us: float = parameter(
        0.0,
        option="--gap-us",
        help="Microseconds between a completion and the next dispatch (sim).",
        kind=float,
        metavar="US",
        unit="us",
        low=0,
        high=HOUR_US,
        platforms=("sim",),
    )
    ask_us: float = parameter(
        0.0,
        option="--ask-us",
        help="Microseconds that a process needs between an answer and its next request (sim).",
        kind=float,
        metavar="US",
        unit="us",
        low=0,
        high=HOUR_US,
        platforms=("sim",),
    )


@dataclass(frozen=True, kw_only=True)
class OnVm(Parameters):
    """A VM.

    `scale` is the papers' k: the disk takes k times as long as its model, and all times measured
    in the run are divided by k.  The processes' sleeps are multiplied by `think_scale`, which
    equals `scale` unless the user wants the papers' unscaled sleeps.  `to_find` names the scales
    that the run itself determines.  It is empty unless the clock is wall and k is not given.
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
        help="k, the slowdown of the disk (vm) [default: 1; found by the run with --clock wall].",
        kind=float,
        low=1,
        high=SCALE_MAX,
        platforms=("vm",),
    )
    think_scale: float = _think_scale()
    controller: str = parameter(
        "vdisk",
        option="--controller",
        help="Virtual disk: vdisk, null_blk, lsi53c895a, virtio-scsi, virtio-blk or nvme-card (vm) "
        "[default: vdisk].",
        kind=str,
        platforms=("vm",),
    )
    to_find: tuple[str, ...] = ()

    def found(self, scale: float) -> Self:
        """Return the setting with the k that the run has determined."""
        scales: dict[str, Any] = dict.fromkeys(self.to_find, scale)
        return replace(self, to_find=(), **scales)


@dataclass(frozen=True, kw_only=True)
class OnReal(Parameters):
    """A disk of this machine, with its own times."""

    name: ClassVar[str] = "real"
    clock: ClassVar[Clock] = "wall"
    scale: ClassVar[float] = 1.0
    think_scale: ClassVar[float] = 1.0
    controller: ClassVar[str] = "none"
    to_find: ClassVar[tuple[str, ...]] = ()


Setting = OnSim | OnVm | OnReal
SETTINGS: dict[str, type[OnSim] | type[OnVm] | type[OnReal]] = {
    "sim": OnSim,
    "vm": OnVm,
    "real": OnReal,
}


def setting(platform: str, parameters: dict[str, Any]) -> Setting:
    """Return the platform's setting.

    The default of k depends on the clock; the default of --think-scale depends on k.
    """
    if platform != "vm":
        return SETTINGS[platform].of(parameters)
    scale, think = parameters.get("scale"), parameters.get("think_scale")
    finds = scale is None and parameters.get("clock") == "wall"
    to_find = ("scale", *(("think_scale",) if think is None else ())) if finds else ()
    return OnVm.of(
        {**parameters, "think_scale": scale if think is None else think}, to_find=to_find
    )
