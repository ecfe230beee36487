# SPDX-License-Identifier: MIT
"""A folder with all results: a page, our figures, pictures, and checksums that another machine
reproduces.

A folder in it has a result's files: PLATFORM.json with our figures, and PLATFORM-1.svg with a
picture.  No such file names a machine, a version or a time, and figures have six digits, so that
processors whose last bits differ write the same bytes.  What measures this machine has no checksum:
environment.json, and results on the platform "host".
"""

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.progress import Report
from understudy_devices.campaign.result import environment
from understudy_devices.reproduce import HOST, VM, Asked, Reproduced, Result, page
from understudy_devices.show import inline

SCHEMA = "understudy.artifact/1"
PAGE = "results.md"
ENVIRONMENT = "environment.json"
DIGITS = 6
LIBRARIES = ("numpy", "scipy", "polars", "matplotlib")
PICTURE = ".svg"

# The lists of checksums, and where their files have the same bytes.
LISTS = {
    "SHA256SUMS": "figures of the simulator and of formulas: on any machine",
    "SHA256SUMS.pictures": "their pictures: with the same version of Matplotlib",
    "SHA256SUMS.vm": "all that has figures of VMs: with the same versions of QEMU, of Debian's "
    "kernel and of the compiler, since a VM's clock counts instructions",
}


@dataclass(frozen=True)
class Part:
    """A result on one platform, with what came out, or why it failed."""

    result: Result
    platform: str
    seconds: float
    reproduced: Reproduced | None
    failure: str = ""

    @property
    def files(self) -> dict[str, str]:
        """Return the text of each file, by its name in the folder."""
        if not self.reproduced:
            return {}
        stem = f"{self.result.name}/{self.platform}"
        document = {
            "result": self.result.name,
            "platform": self.platform,
            "reproduces": self.result.reproduces,
            "figures": rounded(self.reproduced.figures),
        }
        pictures = {
            f"{stem}-{number}{PICTURE}": inline.standalone(drawing)
            for number, drawing in enumerate(self.reproduced.pictures, 1)
        }
        return {f"{stem}.json": json.dumps(document, indent=2) + "\n", **pictures}


@dataclass(frozen=True)
class Artifact:
    """All results that a command carried out."""

    command: str
    parts: Sequence[Part]

    @property
    def failures(self) -> list[str]:
        """Return a line for each result that failed."""
        return [
            f"{one.result.name}, {one.platform}: {one.failure}" for one in self.parts if one.failure
        ]

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON."""
        return {
            "schema": SCHEMA,
            "command": self.command,
            "environment": self.environment,
            "results": [
                {
                    "result": one.result.name,
                    "platform": one.platform,
                    "reproduces": one.result.reproduces,
                    "differs": one.result.differs,
                    "figures": rounded(one.reproduced.figures) if one.reproduced else None,
                    "failure": one.failure or None,
                }
                for one in self.parts
            ],
            "sha256": self.checksums,
        }

    @property
    def environment(self) -> dict[str, Any]:
        """Return what describes this machine: versions, and the seconds of each result."""
        known = [one.reproduced.environment for one in self.parts if one.reproduced]
        return {
            **environment(()),
            **{name: version(name) for name in LIBRARIES},
            **{key: value for each in known for key, value in each.items() if value is not None},
            "seconds": {
                f"{one.result.name}, {one.platform}": round(one.seconds, 1) for one in self.parts
            },
        }

    @property
    def checksums(self) -> dict[str, dict[str, str]]:
        """Return the lists of checksums, each by file name; a list without a file is left out."""
        lists: dict[str, dict[str, str]] = {name: {} for name in LISTS}
        for name, text in self._files().items():
            if listed := self._list_of(name):
                lists[listed][name] = sha256(text.encode()).hexdigest()
        return {name: files for name, files in lists.items() if files}

    def write(self, folder: Path) -> None:
        """Write all files into an empty folder."""
        texts = self._files() | {
            name: "".join(f"{digest}  {file}\n" for file, digest in files.items())
            for name, files in self.checksums.items()
        }
        texts[ENVIRONMENT] = json.dumps(self.environment, indent=2) + "\n"
        for name, text in texts.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")

    def _files(self) -> dict[str, str]:
        files = {name: text for one in self.parts for name, text in one.files.items()}
        return {PAGE: page.render(self.parts, LISTS), **files}

    def _list_of(self, name: str) -> str | None:
        """Return the list for a file; None for one that measures this machine.

        The page has figures of all platforms that were used.
        """
        platforms = {one.platform for one in self.parts if name == PAGE or name in one.files}
        plain, pictures, vm = LISTS
        if HOST in platforms:
            return None
        if VM in platforms:
            return vm
        return pictures if name.endswith(PICTURE) else plain


def carry_out(
    command: str,
    wanted: Sequence[tuple[Result, str]],
    jobs: int,
    report: Report,
    parameters: Mapping[str, Any] | None = None,
) -> Artifact:
    """Carry out results, each on one platform, one after the other.

    `parameters` are those of the one result; None: those with which all results are carried out
    together.  A result that fails is noted, and the others go on.
    """
    total = sum(result.seconds[platform] for result, platform in wanted)
    parts: list[Part] = []
    before = 0
    for result, platform in wanted:
        share = result.seconds[platform]
        heard = _Share(report, f"{result.name}, {platform}", before / total, share / total)
        own = result.in_all if parameters is None else parameters
        parts.append(_part(result, Asked(platform, jobs, heard, own)))
        before += share
    return Artifact(command, parts)


@dataclass(frozen=True)
class _Share:
    """Reports a result's progress as a share of the progress of all."""

    report: Report
    name: str
    before: float
    share: float

    def __call__(self, phase: str, fraction: float) -> None:
        self.report(f"{self.name}: {phase}", self.before + self.share * fraction)


def _part(result: Result, asked: Asked) -> Part:
    asked.report("begin", 0)
    began = time.monotonic()
    reproduced, failure = None, ""
    try:
        reproduced = result.run(asked)
    except (RunFailed, UserError) as error:
        failure = str(error)
    return Part(result, asked.platform, time.monotonic() - began, reproduced, failure)


def rounded(value: Any) -> Any:
    """Return the value with all its numbers rounded to DIGITS digits."""
    if isinstance(value, Mapping):
        return {str(key): rounded(each) for key, each in value.items()}
    if isinstance(value, str | bool | int | None):
        return value
    if isinstance(value, float | np.floating):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return [rounded(each) for each in value]
