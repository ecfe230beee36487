# SPDX-License-Identifier: MIT
"""The journals of card runs below the studio's folder, while they grow and afterwards.

`understudy card test` and `card demo` write them with --out: a folder has the card's NAME.yaml, a
STEM.journal for each VM, STEM-findings.json when that VM has ended, and pictures of a demo.
"""

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from understudy_devices.base.errors import RunFailed
from understudy_devices.cards import specification
from understudy_devices.cards.journal import ABSENT, ACCESS, NOT_DECODED, Context, What
from understudy_devices.cards.model import Card
from understudy_devices.cards.register_log import CONTEXTS, ignored, said
from understudy_devices.cards.shadow import Places
from understudy_devices.cards.wrong import WrongCard
from understudy_devices.studio.plain_text import is_plain
from understudy_devices.studio.run_files import inside as file_inside
from understudy_devices.studio.run_files import latest_first

SUFFIX, FINDINGS = ".journal", "-findings.json"
LISTED = 200
PIECE = 2000  # accesses in an answer
FINDINGS_MOST = 2**20  # bytes
PICTURES_MOST = 100
NO_JOURNAL = "no such journal: look at the list again"


class _Finding(BaseModel):
    """As kept_files.py writes it."""

    model_config = ConfigDict(strict=True)

    rule: str
    access: int
    text: str


class _Judgement(BaseModel):
    """The content of STEM-findings.json."""

    model_config = ConfigDict(strict=True)

    findings: list[_Finding]
    notes: list[_Finding]
    missed: int


def every(folder: Path) -> list[dict[str, Any]]:
    """Return the runs with journals, the last one first."""
    runs = latest_first(folder, _journals)
    return [
        {"name": str(run.relative_to(folder)), "journals": journals} | about
        for run in runs[:LISTED]
        if (journals := [file.name.removesuffix(SUFFIX) for file in _journals(run)])
        for about in [{"pictures": pictures(run)}]
    ]


def pictures(run: Path) -> list[str]:
    """Return the names of a run's pictures."""
    return [file.name for file in _files(run, "*.png")][:PICTURES_MOST]


def inside(folder: Path, name: str, file: str) -> Path | None:
    """Return a file of a run, which is below the folder; None if there is none."""
    try:
        run = (folder / name).resolve()
        is_below = run.is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # too long, a zero byte, or links in a circle
        return None
    return file_inside(run, file) if is_below and file == Path(file).name else None


def card_of(journal: Path) -> Card:
    """Return the card of a journal; RunFailed if its specification is not there, or wrong."""
    files = _files(journal.parent, "*.yaml")
    if len(files) != 1:
        raise RunFailed(
            f"{journal.parent.name} has {len(files)} specifications: run the card again"
        )
    try:
        return specification.load(files[0])
    except WrongCard as wrong:
        raise RunFailed(str(wrong).splitlines()[0]) from wrong


def part(journal: Path, begin: int) -> dict[str, Any]:
    """Return up to PIECE accesses from number `begin` on, how many there are, and what the
    referee says of them; None as long as it has not judged.

    An access is [ns, cpu, context, pid, what, text, parts, is_lost, card]; its parts are
    [register, lanes, value], with numbers as hexadecimal text.  A lost one did not reach the card.
    """
    card = card_of(journal)
    places, indexes = _places(card)
    with journal.open("rb") as opened:
        opened.seek(begin * ACCESS.itemsize)
        raw = opened.read(PIECE * ACCESS.itemsize)
        written = os.fstat(opened.fileno()).st_size // ACCESS.itemsize
    whole = len(raw) // ACCESS.itemsize * ACCESS.itemsize
    accesses = []
    for access in np.frombuffer(raw[:whole], ACCESS):
        try:
            accesses.append(_shown(card, places, indexes, access))
        except ValueError as error:
            raise RunFailed(f"{journal.name}: no journal of this version") from error
    return {"accesses": accesses, "written": written, **_judged(journal)}


def _shown(card: Card, places: Places, indexes: dict[str, int], access: Any) -> list[Any]:
    """Return an access as `part` describes it; ValueError if a number has no meaning."""
    what, context = What(int(access["what"])), Context(int(access["context"]))
    is_touch = what in (What.LOAD, What.STORE)
    touched = _number(access, "bar", "offset", "bytes", "value") if is_touch else None
    return [
        int(access["ns"]),
        int(access["cpu"]),
        CONTEXTS[context],
        int(access["pid"]),
        what.name.lower(),
        said(card, places, access) + ignored(access),
        [
            [indexes[one.register.name], hex(one.lanes), hex(one.value)]
            for one in (places.parts(*touched, stored=what == What.STORE) if touched else ())
        ],
        bool(access["flags"] & (ABSENT | NOT_DECODED)),
        int(access["card"]),
    ]


def _number(access: Any, *names: str) -> tuple[int, int, int, int]:
    bar, offset, width, value = (int(access[name]) for name in names)
    return bar, offset, width, value


@lru_cache(maxsize=4)
def _places(card: Card) -> tuple[Places, dict[str, int]]:
    return Places(card), {one.name: index for index, one in enumerate(card.all_registers)}


def _judged(journal: Path) -> dict[str, Any]:
    file = journal.with_name(journal.name.removesuffix(SUFFIX) + FINDINGS)
    if os.path.lexists(file) and not file_inside(file.parent, file.name):
        raise RunFailed(f"{file.name} is no file of the run: run the card again")
    try:
        with file.open("rb") as opened:
            judgement = _Judgement.model_validate_json(opened.read(FINDINGS_MOST))
    except FileNotFoundError:
        return {"findings": None, "notes": None, "missed": 0}
    except (OSError, ValueError) as error:
        raise RunFailed(f"{file.name} is cut off or of another form: run the card again") from error
    return judgement.model_dump()


def _journals(run: Path) -> list[Path]:
    return _files(run, f"*{SUFFIX}")


def _files(run: Path, pattern: str) -> list[Path]:
    """Return the files of a run that can be shown."""
    return sorted(
        file for file in run.glob(pattern) if is_plain(file.name) and file_inside(run, file.name)
    )
