# SPDX-License-Identifier: MIT
"""A prediction in a notebook or in Python's shell: each platform's table, picks and picture."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from understudy_devices.campaign.result import Result
from understudy_devices.show import notebook, side_by_side, table
from understudy_devices.show.notebook import Section

if TYPE_CHECKING:
    from understudy_devices.show.inline import Drawing


def html(command: str, answers: Mapping[str, Result], notes: Sequence[str], *, ranked: bool) -> str:
    """Return a piece of a page."""
    return notebook.html(command, list(_sections(answers, ranked, pictures=True)), notes)


def text(answers: Mapping[str, Result], notes: Sequence[str], *, ranked: bool) -> str:
    """Return the same as text, without pictures."""
    return notebook.text(list(_sections(answers, ranked, pictures=False)), notes)


def _sections(answers: Mapping[str, Result], ranked: bool, *, pictures: bool) -> Iterator[Section]:
    for answer in answers.values():
        title = table.headline(answer.experiment, len(answer.comparison.seeds), answer.platform)
        grid = table.laid_out(answer, table.ranking if ranked else None)
        yield Section(
            title, [grid], table.sentences(answer), _picture(answer) if pictures else None
        )
    if len(answers) > 1:
        first, second, *_ = answers.values()
        yield Section("", [side_by_side.grid(first, second)])


def _picture(answer: Result) -> "Drawing":
    from understudy_devices.show import response_times  # Matplotlib takes half a second

    return response_times.draw_cumulated(answer.outcomes)
