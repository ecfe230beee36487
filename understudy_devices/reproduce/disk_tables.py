# SPDX-License-Identifier: MIT
"""Tables 2 and 3 of PERFORM 2010, which compare three schedulers: their runs, and what came out."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any

from understudy_devices.api.predict import Question, ask
from understudy_devices.api.watch import Progress, Watch
from understudy_devices.ask.experiment import Experiment
from understudy_devices.base.errors import RunFailed
from understudy_devices.base.progress import Report
from understudy_devices.campaign.result import Result, environment
from understudy_devices.papers import reproduction
from understudy_devices.papers.tables import AT_ONCE, PAPERS_DISK, REPRODUCED, PaperTable
from understudy_devices.reproduce import Asked, Reproduced
from understudy_devices.show.grid import Block, Grid

SEEDS = 5
PLATFORMS = {"sim": "simulated", "vm": "in VMs"}
REQUESTS = {"sim": 50_000, "vm": 10_000}  # the papers' number is 50,000
DIFFERS = """
The papers claim to predict the ranks, so compare these; the absolute times differ. The seek line is
the papers', but not their file system, their Linux 2.6.30 or their cfq, which Linux 5.0 removed:
mq-deadline is the successor of deadline, and our cfq was written from what is known about theirs.
The papers' disk is a real one; their virtual disk has k = 8 in the wall clock, where late
completions and the probes' overhead lengthen all times. Our VMs run in the virtual clock with k =
1. In the VMs a run has 10,000 requests instead of 50,000, so the run's time is short.
"""


def question(table: PaperTable, command: str, options: Mapping[str, Any]) -> Question:
    """Return the runs of a table; `options` are those of predict, None where not given."""
    depth = options.get("queue_depth")
    return ask(
        "reproduce",
        disk=PAPERS_DISK,
        workload=table.workload,
        schedulers=REPRODUCED,
        command=command,
        **{**options, "queue_depth": AT_ONCE if depth is None else depth},
    )


def run(table: PaperTable, asked: Asked, **more: Any) -> Reproduced:
    """Run a table on one platform; `more` are further options of predict."""
    from understudy_devices.show import response_times  # Matplotlib takes half a second

    options = {
        "on": asked.platform,
        "seeds": SEEDS,
        "requests": REQUESTS[asked.platform],
        "jobs": asked.jobs,
        **asked.parameters,
        **more,
    }
    answered = question(table, "", options).answer(watch=Reporting(asked.report))
    if answered.failures:
        raise RunFailed("; ".join(answered.failures.values()))
    [answer] = answered.answers.values()
    shadow = reproduction.shadow_sentence(answer.comparison, "cats", table.workload)
    return Reproduced(
        [_grid(table, answer)],
        _figures(table, answer),
        response_times.draw(answer.outcomes),
        [
            reproduction.ranks_sentence(table, answer.comparison),
            *([shadow] if shadow else []),
        ],
        environment(answer.outcomes),
    )


def _grid(table: PaperTable, answer: Result) -> Grid:
    """Return a block for each measure: our row, the papers' two."""
    rows = reproduction.rows(table, answer.comparison)
    blocks: list[Block] = [
        [
            (
                f"{row.measure.label} ({row.measure.unit}), {row.source}",
                (
                    *(f"{row.values[name]:,.2f} ({row.ranks[name]})" for name in row.values),
                    row.verdict,
                ),
            )
            for row in rows[first : first + 3]
        ]
        for first in range(0, len(rows), 3)
    ]
    seeds, requests = len(answer.comparison.seeds), answer.outcomes[0].requests.height
    how = f"{seeds} seeds of {requests:,} requests, {PLATFORMS[answer.platform]}"
    return Grid((*rows[0].values, "ranks"), blocks, f"{table.title}; {how} (rank in brackets)")


def _figures(table: PaperTable, answer: Result) -> dict[str, Any]:
    compared = answer.comparison
    ours = [row for row in reproduction.rows(table, compared) if row.source == reproduction.OURS]
    return {
        "seeds": list(compared.seeds),
        "requests": answer.outcomes[0].requests.height,
        "measures": [row.as_json() for row in ours],
        "half_widths": {
            row.measure.key: {
                name: compared.estimate(own, row.measure).half_width
                for name, own in reproduction.beside(compared.schedulers).items()
            }
            for row in ours
        },
        "shadow": [
            {
                "seed": each.seed,
                "hits": each.hits,
                "predicted_hits": each.predicted_hits,
                "predicted": each.predicted,
            }
            for each in compared.runs("cats")
        ],
    }


class Reporting(Watch):
    """A watch that only reports how many runs are done."""

    def __init__(self, report: Report) -> None:
        """Store where to report."""
        self._report = report

    @contextmanager
    def runs(self, count: int) -> Iterator[Progress]:
        """Yield the progress of this many runs."""
        yield Runs(count, self._report)


class Runs:
    """The progress of several runs, as the phases of one task."""

    def __init__(self, count: int, report: Report) -> None:
        """Begin with no run done."""
        self._count = count
        self._done = 0
        self._report = report
        self._lock = Lock()

    def prepare(self, phase: str, fraction: float) -> None:
        """Report what is being fetched or built."""
        self._report(phase, 0)

    def run(self, experiment: Experiment, phase: str, fraction: float) -> None:
        """Count a run that is done."""
        if fraction >= 1 and phase == "done":
            with self._lock:
                self._done += 1
                self.count(self._done, self._count)

    def count(self, done: int, total: int) -> None:
        """Report how many runs are done."""
        self._report(f"{done} of {total} runs", done / total)
