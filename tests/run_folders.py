# SPDX-License-Identifier: MIT
"""Run folders of invented runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sample_runs import experiment, outcome

from understudy_devices.campaign import result
from understudy_devices.campaign.result import Result


def written(
    folder: Path, schedulers: Sequence[str], seeds: Sequence[int], **changes: Any
) -> Result:
    """Write a run folder, with a report of one line; return what was written."""
    runs = [outcome(experiment(scheduler=name, seed=seed, **changes))
            for name in schedulers for seed in seeds]  # fmt: skip
    found = Result(f"understudy predict --out {folder.name}", tuple(runs))
    result.write(found, folder, "<p>a report</p>")
    return found
