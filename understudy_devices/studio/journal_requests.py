# SPDX-License-Identifier: MIT
"""The studio's requests for journals of card runs (journals.py).

| request | answer |
| --- | --- |
| GET api/journals | the runs with journals, the last one first |
| GET api/journals/RUN/STEM/card | the card |
| GET api/journals/RUN/STEM/accesses?from=N | accesses from number N on, and the findings |
| GET api/journals/RUN/pictures/NAME | a picture of a demo |
"""

from pathlib import Path
from typing import Any

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from understudy_devices.base.errors import RunFailed
from understudy_devices.studio import journals
from understudy_devices.studio.answers import Refused, answering
from understudy_devices.studio.draft import safe

DIGITS_MOST = 9


class Journals:
    """Answers about the card runs of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def routes(self) -> list[Route]:
        """Return the routes."""
        run = "/api/journals/{run:path}"
        return [
            Route("/api/journals", self.every),
            Route(f"{run}/pictures/{{file}}", self.picture),
            Route(f"{run}/{{stem}}/card", self.card),
            Route(f"{run}/{{stem}}/accesses", self.accesses),
        ]

    @answering
    async def every(self, _: Request) -> dict[str, Any]:
        """List the runs."""
        return {"runs": await run_sync(journals.every, self._folder)}

    @answering
    async def card(self, request: Request) -> dict[str, Any]:
        """Return the card of a journal."""
        card = await run_sync(journals.card_of, self._journal(request))
        every = [one.model_dump(mode="json") for one in card.all_registers]
        shown: dict[str, Any] = safe(card.model_dump(mode="json") | {"registers": every})
        return shown

    @answering
    async def accesses(self, request: Request) -> dict[str, Any]:
        """Return a part of a journal."""
        begin = request.query_params.get("from", "0")
        if not (begin.isascii() and begin.isdigit() and len(begin) <= DIGITS_MOST):
            raise Refused("from: the number of an access", 400)
        try:
            return await run_sync(journals.part, self._journal(request), int(begin))
        except OSError as error:
            raise RunFailed(f"{error.filename}: {error.strerror}; was the run deleted?") from error

    async def picture(self, request: Request) -> Response:
        """Return a picture."""
        name = request.path_params["file"]
        file = journals.inside(self._folder, request.path_params["run"], name)
        if file is None or file.suffix != ".png":
            return JSONResponse({"error": "no such picture: look at the list again"}, 404)
        return FileResponse(file, media_type="image/png")

    def _journal(self, request: Request) -> Path:
        name = request.path_params["stem"] + journals.SUFFIX
        file = journals.inside(self._folder, request.path_params["run"], name)
        if file is None:
            raise Refused(journals.NO_JOURNAL, 404)
        return file
