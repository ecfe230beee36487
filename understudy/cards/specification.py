# SPDX-License-Identifier: MIT
"""Specifications of cards: cards/NAME.yaml, or a file of one's own, checked.

`load` gives a Card, or one WrongCard with a line `FILE:LINE: reason` for each mistake.  What
else there is of a card lies beside its specification: NAME.c, how it behaves, and drivers/ with
NAME_driver.c, the reference driver, NAME_exercise, what a driver has to stand, and NAME_demo.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

from understudy.base.catalog import pick
from understudy.base.errors import UserError
from understudy.base.paths import cards_dir
from understudy.cards.document import BYTES_MAX, Document
from understudy.cards.mistakes import Mistakes
from understudy.cards.model import Card
from understudy.cards.wrong import WrongCard


def catalogue() -> dict[str, Path]:
    """The cards that come with the project, by name."""
    return {file.stem: file for file in sorted(cards_dir().glob("*.yaml"))}


def load(name: str | Path) -> Card:
    """The card of that name, or of a file; a name of the catalogue's is the card's."""
    return parse(*read(name))


def file_of(name: str | Path) -> Path:
    """The file of a card that is named as for load."""
    given = str(name)
    if given in catalogue():
        return catalogue()[given]
    is_file = given.endswith((".yaml", ".yml")) or "/" in given or Path(given).exists()
    return Path(given) if is_file else pick("card", given, catalogue())


def read(name: str | Path) -> tuple[str, bytes]:
    """Name of the file, and what is in it; a UserError if it cannot be read."""
    file = file_of(name)
    try:
        with file.open("rb") as opened:
            return str(file), opened.read(BYTES_MAX + 1)
    except IsADirectoryError as error:
        raise UserError(f"{file}: a folder, not a specification: name a .yaml file") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"{file}: {reason}; understudy card list has the cards") from error


@lru_cache(maxsize=16)
def parse(name: str, raw: bytes) -> Card:
    """The card that a file holds; `name` is the file's in errors."""
    document = Document(name, raw)
    mistakes = Mistakes(document.data)
    if mistakes.found:
        raise WrongCard(name, ((document.line(place), reason) for place, reason in mistakes.found))
    assert mistakes.card, "what has no mistake is a card"
    return mistakes.card


def schema() -> dict[str, Any]:
    """JSON Schema of a specification, for editors; the rules between parts are not in it."""
    return Card.model_json_schema() | {"$schema": "https://json-schema.org/draft/2020-12/schema"}
