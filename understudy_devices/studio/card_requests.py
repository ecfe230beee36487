# SPDX-License-Identifier: MIT
"""The studio's requests for cards (cards.py, draft.py).

| request | answer |
| --- | --- |
| GET api/cards | the folder's cards with their mistakes, those to begin from, and the schema |
| GET api/cards/NAME | its text, document, mistakes and generated files, and its revision |
| POST api/cards/NAME | {"text", "base", "message"}: save; 409 with the other version |
| POST api/cards/NAME/check | {"text", "document"}: the same as GET, for what is not saved |
| GET api/cards/NAME/versions | its commits, the last one first |
| GET api/cards/NAME/versions/COMMIT | its text then, and what has changed since |
| POST api/variations | {"card", "seed"}: the text of a variant (course/card.py) |
| POST api/rdl | {"text"}: the specification's text from SystemRDL, or its mistakes |
"""

from pathlib import Path
from typing import Annotated, Any

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.routing import Route

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.cards import specification
from understudy_devices.cards.difference import difference
from understudy_devices.cards.yaml_text import yaml_text
from understudy_devices.course import card as course_card
from understudy_devices.studio import draft
from understudy_devices.studio.answers import Refused, answering
from understudy_devices.studio.cards import ConflictError, Library, Saved
from understudy_devices.studio.rdl_file import imported

NO_CARD = "no such card: look at the list again"


class Save(BaseModel):
    """A text to save, the revision that it is based on (none: a new card), and a remark."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str
    base: str | None
    message: str = ""


class Rdl(BaseModel):
    """The text of a .rdl file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str


class Vary(BaseModel):
    """A card of the project, and the seed of its variant."""

    model_config = ConfigDict(extra="forbid", strict=True)

    card: str
    seed: Annotated[int, Field(ge=1, le=course_card.SEED_MAX)]


class Check(BaseModel):
    """A text to check; or a document that was changed, with the text from which it was read."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str
    document: dict[str, Any] | None = None


class Cards:
    """Answers about the cards of one folder."""

    def __init__(self, folder: Path) -> None:
        """Nothing is read before the first request."""
        self._library = Library(folder)

    def routes(self) -> list[Route]:
        """Return the routes, without those of other parts."""
        return [
            Route("/api/cards", self.every),
            Route("/api/cards/{name}", self.one),
            Route("/api/cards/{name}", self.save, methods=["POST"]),
            Route("/api/cards/{name}/check", self.check, methods=["POST"]),
            Route("/api/cards/{name}/versions", self.versions),
            Route("/api/cards/{name}/versions/{commit}", self.version),
            Route("/api/variations", self.vary, methods=["POST"]),
            Route("/api/rdl", self.rdl, methods=["POST"]),
        ]

    @answering
    async def every(self, _: Request) -> dict[str, Any]:
        """List the cards."""
        return await run_sync(self._every)

    def _every(self) -> dict[str, Any]:
        listed: list[dict[str, Any]] = []
        for name in self._library.names():
            try:
                saved = self._library.read(name)
            except (UserError, RunFailed) as error:
                listed.append({"name": name, "error": str(error)})
                continue
            if saved:
                mistakes = len(draft.checked(saved.text).mistakes)
                listed.append({"name": name, "mistakes": mistakes})
        begin = {name: file.read_text() for name, file in specification.catalogue().items()}
        return {
            "folder": str(self._library.folder),
            "cards": listed,
            "begin": begin,
            "varied": list(course_card.ORIGINALS),
            "schema": specification.schema(),
        }

    @answering
    async def one(self, request: Request) -> dict[str, Any]:
        """Return a card."""
        saved = await run_sync(self._library.read, request.path_params["name"])
        if saved is None:
            raise Refused(NO_CARD, 404)
        return await run_sync(_shown, saved)

    @answering
    async def save(self, request: Request) -> dict[str, Any]:
        """Save a card; if somebody else has saved it, say what differs."""
        asked = Save.model_validate_json(await request.body())
        name = request.path_params["name"]
        try:
            saved = await run_sync(self._library.save, name, asked.text, asked.base, asked.message)
        except ConflictError as conflict:
            theirs = conflict.theirs
            raise Refused(
                f"{name} has been changed since: look at the differences, then save again",
                409,
                theirs=theirs and await run_sync(_shown, theirs),
                difference=await run_sync(_difference, theirs.text if theirs else "", asked.text),
            ) from conflict
        return await run_sync(_shown, saved)

    @answering
    async def check(self, request: Request) -> dict[str, Any]:
        """Check what is not saved."""
        asked = Check.model_validate_json(await request.body())
        return await run_sync(_checked, asked)

    @answering
    async def vary(self, request: Request) -> dict[str, Any]:
        """Return the specification of a variant."""
        asked = Vary.model_validate_json(await request.body())
        variant = await run_sync(course_card.of_seed, asked.card, asked.seed)
        return {"text": yaml_text(variant.card)}

    @answering
    async def rdl(self, request: Request) -> dict[str, Any]:
        """Convert SystemRDL."""
        asked = Rdl.model_validate_json(await request.body())
        result = await run_sync(imported, asked.text)
        mistakes = [{"line": line, "reason": reason} for line, reason in result.mistakes]
        return {"text": result.text, "mistakes": mistakes}

    @answering
    async def versions(self, request: Request) -> dict[str, Any]:
        """Return the commits of a card."""
        history = await run_sync(self._library.history, request.path_params["name"])
        return {"versions": [vars(version) for version in history]}

    @answering
    async def version(self, request: Request) -> dict[str, Any]:
        """Return a version, and what has changed since."""
        name, commit = request.path_params["name"], request.path_params["commit"]
        text = await run_sync(self._library.at, name, commit)
        if text is None:
            raise Refused("no such version: look at the list again", 404)
        now = await run_sync(self._library.read, name)
        changes = await run_sync(_difference, text, now.text if now else "")
        return {"text": text, "difference": changes}


def _shown(saved: Saved) -> dict[str, Any]:
    return {"name": saved.name, "revision": saved.revision, **draft.checked(saved.text).as_json()}


def _checked(asked: Check) -> dict[str, Any]:
    text = asked.text if asked.document is None else draft.edited(asked.text, asked.document)
    return draft.checked(text).as_json()


def _difference(old: str, new: str) -> list[str] | None:
    """Return what differs between two texts, in terms of registers; None if one is no YAML."""
    before, after = draft.checked(old).document, draft.checked(new).document
    return None if before is None or after is None else difference(before, after)
