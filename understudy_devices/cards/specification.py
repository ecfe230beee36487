# SPDX-License-Identifier: MIT
"""Specifications of cards: cards/NAME.yaml, or a user's own file, checked.

`load` returns a Card, or raises one WrongCard with a line `FILE:LINE: reason` per mistake.  The
folder also has the card's other files: NAME.c, its behaviour; and drivers/ with NAME_driver.c,
the reference driver, NAME_exercise, a test for drivers, and NAME_demo.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

from understudy_devices.base import regular_file
from understudy_devices.base.catalog import pick
from understudy_devices.base.errors import UserError
from understudy_devices.base.paths import cards_dir
from understudy_devices.cards.document import BYTES_MAX, Document
from understudy_devices.cards.mistakes import Mistakes
from understudy_devices.cards.model import Card
from understudy_devices.cards.wrong import WrongCard


def catalogue() -> dict[str, Path]:
    """Return the specifications that are part of the project, by the names of the cards."""
    return {file.stem: file for file in sorted(cards_dir().glob("*.yaml"))}


def load(name: str | Path) -> Card:
    """Return the card with this name in the catalogue, else the card in the file of this name."""
    return parse(*read(name))


def file_of(name: str | Path) -> Path:
    """Return the file of a card, named as for `load`."""
    text = str(name)
    if text in catalogue():
        return catalogue()[text]
    is_file = text.endswith((".yaml", ".yml")) or "/" in text or Path(text).exists()
    return Path(text) if is_file else pick("card", text, catalogue())


def read(name: str | Path) -> tuple[str, bytes]:
    """Return the file's name and content; UserError if it can't be read."""
    file = file_of(name)
    try:
        with file.open("rb") as opened:
            return str(file), opened.read(BYTES_MAX + 1)
    except IsADirectoryError as error:
        raise UserError(f"{file}: a folder, not a specification: name a .yaml file") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"{file}: {reason}; understudy card list has the cards") from error


def beside(name: str | Path, place: str) -> bytes | None:
    """Return the content of a file in the folder of a card, named as for `load`; None if there is
    none.

    A user's card may be in somebody else's folder: UserError if the file, or a folder on the way,
    is a link, and for a pipe, a device or a file of more than BYTES_MAX.
    """
    folder = file_of(name).parent
    try:
        if str(name) in catalogue():
            return (folder / place).read_bytes()
        return regular_file.read_within(folder, place, BYTES_MAX)
    except FileNotFoundError:
        return None
    except NotADirectoryError as error:
        raise UserError(f"{(folder / place).parent}: not a folder, or a link to one") from error
    except OSError as error:
        raise UserError(
            f"{folder / place}: {error.strerror}; a card's files are ordinary ones, of at most "
            f"{BYTES_MAX // 2**20} MiB"
        ) from error


@lru_cache(maxsize=16)
def parse(name: str, raw: bytes) -> Card:
    """Return the card in a file's content; errors call the file `name`."""
    document = Document(name, raw)
    mistakes = Mistakes(document.data)
    if mistakes.found:
        raise WrongCard(name, ((document.line(place), reason) for place, reason in mistakes.found))
    assert mistakes.card, "a document without mistakes is a card"
    return mistakes.card


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a specification, for editors; it lacks the rules between parts."""
    return Card.model_json_schema() | {"$schema": "https://json-schema.org/draft/2020-12/schema"}
