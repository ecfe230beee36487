# SPDX-License-Identifier: MIT
"""Where VMs are today, for `place --today`: NAME=DEVICE,..., or a file.

A file has such pairs, one or more in a line, or is the result.json of `place`.  A name stands for a
VM and all its copies, or for a single copy (web#2).  A VM that is not named is new.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy_devices.api import vms as of_vms
from understudy_devices.api.place_constraints import copies
from understudy_devices.base.errors import UserError
from understudy_devices.consolidation.placement.answer import SCHEMA
from understudy_devices.consolidation.placement.today import NEW, Today

OPTION = "--today"
HINT = "write NAME=DEVICE,..., or name a file with such lines, or a result.json of place"


@dataclass(frozen=True)
class Homes:
    """The device of each VM that is not new, by name.  most: the largest number of moves."""

    of: Mapping[str, str]
    most: int | None

    def as_json(self) -> dict[str, Any]:
        """Return what is given."""
        return {"today": dict(self.of), "moves_at_most": self.most}

    def on(
        self, devices: Sequence[str], vms: Sequence[str], sizes_gb: Mapping[str, float]
    ) -> Today:
        """Return the same for these devices and VMs, in this order."""
        where = tuple(devices.index(self.of[vm]) if vm in self.of else NEW for vm in vms)
        return Today(where, tuple(sizes_gb[vm] for vm in vms) if sizes_gb else (), self.most)


def homes(text: str, devices: Sequence[str], vms: Sequence[str], most: int | None) -> Homes | None:
    """Return where these VMs are today; None if the text is empty."""
    if not text:
        if most is not None:
            raise UserError(f"--moves-at-most: needs {OPTION}, which says where VMs are")
        return None
    where: dict[str, str] = {}
    named = _named(text)
    for name in sorted(named, key=lambda name: "#" in name):
        if named[name] not in devices:
            raise UserError(
                f"{OPTION}: {name}={named[name]}: no device is called {named[name]}; there are "
                f"{', '.join(devices)}; a VM that is on none of them is new: leave it out"
            )
        where |= dict.fromkeys(copies(OPTION, name, vms), named[name])
    return Homes(where, most)


def _named(text: str) -> dict[str, str]:
    if "=" in text and not Path(text).is_file():
        return of_vms.pairs(OPTION, text)
    try:
        content = Path(text).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UserError(f"{OPTION}: {text}: no such file of text ({error}); {HINT}") from None
    if content.lstrip().startswith("{"):
        return _of_result(text, content)
    named = of_vms.pairs(f"{OPTION}: {text}", ",".join(content.split()))
    if not named:
        raise UserError(f"{OPTION}: {text}: empty; {HINT}")
    return named


def _of_result(file: str, content: str) -> dict[str, str]:
    try:
        document = json.loads(content)
        if document["schema"] != SCHEMA:
            raise ValueError(document["schema"])
        named = {
            str(vm["name"]): str(device["name"])
            for device in document["devices"]
            for vm in device["vms"]
        }
    except (ValueError, LookupError, TypeError):
        raise UserError(f"{OPTION}: {file}: not a result.json of place; {HINT}") from None
    if not named:
        raise UserError(f"{OPTION}: {file}: it has no assignment; {HINT}")
    return named
