# SPDX-License-Identifier: MIT
"""A driver against the student's variant of a card, on the referee's kernel in a VM.

The run on one processor is in the virtual clock, so the same driver has the same findings; runs on
several processors are in the wall clock, and count only for rules that name them.  Checks of the
same driver share their runs.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from understudy_devices.base import scratch
from understudy_devices.base.catalog import nearest
from understudy_devices.base.errors import UserError
from understudy_devices.base.plain import one_line, plain, shortened
from understudy_devices.cards import specification
from understudy_devices.cards.driver import driver
from understudy_devices.course import card as cards
from understudy_devices.course.check import Check
from understudy_devices.course.result import Found, NoPoints
from understudy_devices.course.work import NotRun, Work
from understudy_devices.referee import run as referee

FINDINGS_SHOWN = 5
VARIANT_FOLDER = "card"
ALWAYS = (
    *("loading failed", "exercise failed"),
    *("deadlock", "the kernel hangs", "the kernel died"),
    *("sleeping in atomic context", "a user's pointer used directly"),
)
"""Findings that cost the points of every check: a driver that does nothing, or ends the run, breaks
no other rule."""

_one_at_a_time = threading.Lock()


class Kind(Check):
    """The driver loads, passes the exercise, leaves, and breaks none of the referee's rules."""

    file: str
    card: str
    """A card of the project; the student has a variant of it."""
    cpus: Annotated[list[Annotated[int, Field(ge=1, le=8)]], Field(min_length=1)]
    seeds: Annotated[int, Field(ge=1, le=20)] = 1
    rules: list[str] | None = None
    """The findings that cost this check's points, beside those in ALWAYS; without it, all do."""

    def files(self) -> Sequence[str]:
        """Return the driver."""
        return (self.file,)

    def mistakes(self, folder: Path) -> Iterator[str]:
        """Yield what is wrong with the card's name."""
        if self.card not in cards.ORIGINALS:
            yield f'card: no variants of "{self.card}": {nearest(self.card, cards.ORIGINALS)}'

    def told(self, work: Work) -> Mapping[str, Any]:
        """Return the commands that generate the manual and test the driver."""
        place = f"{VARIANT_FOLDER}/{self.card}.yaml"
        return {
            "manual": f"understudy card generate {place} --out generated",
            "command": f"understudy card test {place} --driver {self.file} --cpus 1",
        }

    def exported(self, work: Work) -> Mapping[str, bytes]:
        """Return the student's card, a driver to begin with, and the headers that it includes."""
        variant = self._variant(work)
        files = variant.files()
        headers = {
            Path(name).name: data for name, data in files.items() if name.endswith("_driver.h")
        }
        return {f"{VARIANT_FOLDER}/{name}": data for name, data in files.items()} | {
            **headers,
            self.file: driver(variant.card).encode(),
        }

    def solves(self) -> Sequence[str]:
        """Return the driver: each variant needs another one."""
        return (self.file,)

    def solved(self, work: Work) -> Mapping[str, bytes]:
        """Return the project's reference driver, for the student's card."""
        return {self.file: self._variant(work).driver().encode()}

    def _variant(self, work: Work) -> cards.Variant:
        return cards.variant(self.card, work.keys.public.child(f"card {self.card}"))

    def run(self, work: Work) -> Found:
        """Run the driver with each number of processors and seed."""
        text = work.text(self.file)
        if not work.vms:
            raise NotRun("needs a VM; run without --no-vm")
        lines: list[str] = []
        clean = True
        draws = work.draws(self.name, hidden=self.hidden)
        for cpus in self.cpus:
            for number in range(self.seeds):
                seed = draws.seed(str(number)) if self.hidden else 1 + number
                outcome = self._outcome(work, text, referee.Setting(cpus, seed))
                mine = [each for each in outcome.findings if self._counts(each.rule)]
                clean = clean and not mine
                lines += _told(outcome, mine)
        return Found(float(clean), tuple(lines))

    def _counts(self, rule: str) -> bool:
        return self.rules is None or rule in self.rules or rule in ALWAYS

    def _outcome(self, work: Work, text: str, setting: referee.Setting) -> referee.Outcome:
        """Return the referee's outcome; runs are kept for other checks."""
        place = ("driver", self.card, self.file, setting)
        if place not in work.memory:
            try:
                work.memory[place] = self._referee(work, text, setting)
            except NoPoints as why:
                work.memory[place] = why
        found = work.memory[place]
        if isinstance(found, NoPoints):
            raise found
        assert isinstance(found, referee.Outcome)
        return found

    def _referee(self, work: Work, text: str, setting: referee.Setting) -> referee.Outcome:
        with scratch.folder("understudy-driver-") as folder, _one_at_a_time:
            for name, data in self._variant(work).files().items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(data)
            headers = folder / "drivers" / f"{self.card}_driver.h"
            mine = folder / "mine"
            mine.mkdir()
            (mine / self.file).write_text(text, encoding="utf-8")
            if headers.exists():
                (mine / headers.name).write_bytes(headers.read_bytes())
            specification.load(folder / f"{self.card}.yaml")
            try:
                subject = referee.prepared(str(folder / f"{self.card}.yaml"), mine / self.file)
            except UserError as error:
                words = plain(str(error)).replace(f"{mine}/", "")
                raise NoPoints(words) from None
            return referee.run(subject, setting, stop=work.stop)


def _told(outcome: referee.Outcome, mine: Sequence[Any]) -> Iterator[str]:
    """Yield lines about a run: the findings that cost points, each rule once."""
    if not mine:
        yield f"{outcome.setting}: nothing wrong here"
        return
    yield f"{outcome.setting}:"
    seen = list({finding.rule: finding for finding in reversed(mine)}.values())[::-1]
    for finding in seen[:FINDINGS_SHOWN]:
        words = shortened(one_line(finding.text))
        yield f"  {finding.rule}: at access {finding.number}: {words}"
