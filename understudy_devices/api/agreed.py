# SPDX-License-Identifier: MIT
"""Run folders compared with another one, in each measure (PERFORM 2010, Tables 2 and 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy_devices.campaign import result_files
from understudy_devices.campaign.result_files import Kept
from understudy_devices.measure.agreement import Agreement, agreement
from understudy_devices.measure.metrics import PAPER_MEASURES, Measure

SCHEMA = "understudy.comparison/1"
MEASURES = (*PAPER_MEASURES, Measure("p99_response_ms", "p99 response", "ms"))


@dataclass(frozen=True)
class Compared:
    """Two folders, `real` being the reference, in the schedulers and seeds that both have."""

    real: Kept
    virtual: Kept
    seeds: Sequence[int]
    agreements: Sequence[Agreement]

    @property
    def doubts(self) -> list[str]:
        """Return why the comparison may mislead, one line each."""
        return list(result_files.doubts(self.real, self.virtual))

    @property
    def alone(self) -> list[str]:
        """Return the schedulers that only one folder has."""
        both = self.agreements[0].real if self.agreements else {}
        return sorted({*self.real.schedulers, *self.virtual.schedulers} - {*both})

    def as_json(self) -> dict[str, Any]:
        """Return the document of compare-runs --json."""
        return {
            "schema": SCHEMA,
            "real": _side(self.real),
            "virtual": _side(self.virtual),
            "seeds": list(self.seeds),
            "measures": [each.as_json() for each in self.agreements],
        }


def compare(real: Path, virtual: Path) -> Compared:
    """Compare two run folders; UserError of one line if they can't be compared."""
    first, second = result_files.load(real), result_files.load(virtual)
    names, seeds = result_files.common(first, second)
    sides = [side.comparison(names, seeds) for side in (first, second)]
    measures = [each for each in MEASURES if all(side.saw(each) for side in sides)]
    agreements = [agreement(sides[0], sides[1], names, measure) for measure in measures]
    return Compared(first, second, seeds, agreements)


def _side(kept: Kept) -> dict[str, str]:
    return {"folder": str(kept.folder), "platform": kept.platform, "disk": kept.disk}
