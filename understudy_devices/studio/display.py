# SPDX-License-Identifier: MIT
"""The server of a VM's display, for one user and one team; all is below a secret path.

| request | answer |
| --- | --- |
| GET display.html, and what it names | the page, which is held in memory |
| GET api/display | lab, team, this user, who looks at the screen, and why it cannot be seen |
| WebSocket api/screen | the screen: VNC (RFC 6143) in binary messages |

What is done in the team's folder is done as its owner, and changes the user of the whole process
for a moment (lab/owner.py).  So nothing here runs in a thread, or reads another file.
"""

import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.websockets import WebSocket

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.lab import holder, screen, viewers
from understudy_devices.lab.store import Team
from understudy_devices.studio.answers import answering
from understudy_devices.studio.relay import relay
from understudy_devices.studio.safety import Guard

PAGE = "display.html"
NAMED = re.compile(r"assets/[\w.-]+")
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}


def application(team: Team, page: Path, path: str, token: str, port: int) -> Guard:
    """Return the server of a team's display, with the built page, below a path."""
    display = _Display(team, _files(page))
    routes = [
        Route("/api/display", display.about),
        WebSocketRoute("/api/screen", display.screen),
        Route("/{name:path}", display.file),
    ]
    return Guard(Starlette(routes=[Mount(path.rstrip("/"), routes=routes)]), token, port, path)


class _Display:
    """Answers for one team."""

    def __init__(self, team: Team, files: dict[str, bytes]) -> None:
        self._team, self._files = team, files

    async def file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._files:
            return PlainTextResponse("nothing here: open the printed link", 404)
        return Response(self._files[name], media_type=TYPES[Path(name).suffix])

    @answering
    async def about(self, _: Request) -> dict[str, Any]:
        return {
            "lab": self._team.lab.name,
            "team": self._team.name,
            "user": holder.me(),
            "viewers": [asdict(each) for each in viewers.now(self._team)],
            "obstacle": screen.obstacle(self._team),
        }

    async def screen(self, browser: WebSocket) -> None:
        try:
            line = screen.connected(self._team)
        except RunFailed as error:
            await browser.send_denial_response(JSONResponse({"error": str(error)}, 409))
            return
        try:
            with line, viewers.joined(self._team):
                await browser.accept()
                await relay(browser, line)
        except RunFailed as error:
            await browser.send_denial_response(JSONResponse({"error": str(error)}, 507))


def _files(page: Path) -> dict[str, bytes]:
    """Return the page and the files that it names; UserError if it was not built."""
    try:
        html = (page / PAGE).read_bytes()
        names = sorted(set(NAMED.findall(html.decode())))
        return {PAGE: html} | {name: (page / name).read_bytes() for name in names}
    except OSError as error:
        raise UserError(f"{error.filename}: not built: run `make studio` in the checkout") from None
