# SPDX-License-Identifier: MIT
"""The tables and figures of the papers that the project reproduces.

Each module in results/ is a result, without further registration.  The module table3_1 is the
result table3.1, and cheetah_line is cheetah-line.  A module has

* PRINTED, the tables and figures of the papers that it reproduces: pairs of paper and name, as in
  papers/printed.py;
* SECONDS, about how long it takes on each platform that it runs on, on two idle processors: "sim",
  "vm", or "host" if it measures how fast this machine is, so that no other machine can repeat it;
* DIFFERS, what differs from the papers, and why;
* run(asked), which returns what came out on one platform, as Reproduced.

A result whose runs are those of `understudy predict` also has question(command, options), which
`understudy reproduce NAME` asks instead.  A result with parameters of its own has TAKES, their
names; IN_ALL are those with which `understudy reproduce all`, or a group's name, carries it out.
"""

import pkgutil
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from understudy_devices.base.catalog import pick
from understudy_devices.base.progress import Report, silent
from understudy_devices.reproduce import results
from understudy_devices.show.grid import Grid

if TYPE_CHECKING:
    from understudy_devices.show.inline import Drawing  # Matplotlib takes half a second

PLATFORMS = SIM, VM, HOST = ("sim", "vm", "host")
GROUPS = {"lab": ("clones", "table5.1")}
"""Results that belong together, by a name for all of them."""


@dataclass(frozen=True)
class Asked:
    """What a result is asked for: a platform, runs at a time, and the result's own parameters."""

    platform: str
    jobs: int = 1
    report: Report = silent
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reproduced:
    """What came out: tables with the papers' figures beside ours, our figures for JSON, pictures.

    `sentences` say what the tables show.  `environment` has what the runs say about the machine.
    """

    tables: Sequence[Grid]
    figures: Mapping[str, Any]
    pictures: "Sequence[Drawing]" = ()
    sentences: Sequence[str] = ()
    environment: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """A result's name, and its module."""

    name: str
    module: ModuleType

    @property
    def printed(self) -> Sequence[tuple[str, str]]:
        """Return the tables and figures that it reproduces: paper and name."""
        listed: Sequence[tuple[str, str]] = self.module.PRINTED
        return listed

    @property
    def reproduces(self) -> list[str]:
        """Return the same as texts, for JSON."""
        return [", ".join(printed) for printed in self.printed]

    @property
    def seconds(self) -> Mapping[str, int]:
        """Return about how long it takes, by platform."""
        by_platform: Mapping[str, int] = self.module.SECONDS
        return by_platform

    @property
    def differs(self) -> str:
        """Return what differs from the papers, and why."""
        words: str = self.module.DIFFERS
        return " ".join(words.split())

    @property
    def takes(self) -> Sequence[str]:
        """Return the names of its own parameters."""
        return getattr(self.module, "TAKES", ())

    @property
    def in_all(self) -> Mapping[str, Any]:
        """Return the parameters with which it is carried out together with all others."""
        return getattr(self.module, "IN_ALL", {})

    def run(self, asked: Asked) -> Reproduced:
        """Carry it out on one platform."""
        reproduced: Reproduced = self.module.run(asked)
        return reproduced


def names() -> list[str]:
    """Return the names of all results."""
    return sorted(_modules())


def named(name: str) -> Result:
    """Return the result of that name."""
    module = pick("result", name, _modules())
    return Result(name, import_module(f"{results.__name__}.{module}"))


def _modules() -> dict[str, str]:
    return {
        re.sub(r"(?<=\d)_(?=\d)", ".", module.name).replace("_", "-"): module.name
        for module in pkgutil.iter_modules(results.__path__)
    }
