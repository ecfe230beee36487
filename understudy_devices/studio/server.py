# SPDX-License-Identifier: MIT
"""The studio's server: its page, and below api/ what needs this machine, for one folder.

All is below a secret path, the one of the printed link.

| request | answer |
| --- | --- |
| GET api/about | the folder, the version, and the commands that may be started |
| GET api/runs | the run folders below the folder |
| GET api/runs/NAME/result | a run's result.json |
| GET api/runs/NAME/report | its report.html, without scripts |
| GET api/runs/NAME/recorded | which runs it has: scheduler, seed, number of requests |
| GET api/runs/NAME/requests?scheduler=S&seed=N | the requests of one, as bytes (show/views.py) |
| GET api/comparison?run=NAME&run=NAME... | runs compared with the first (comparison.py) |
| GET api/experiments | all experiments, the last one first |
| POST api/experiments | {"words": [...]}: start a command |
| GET api/experiments/NUMBER/events | server-sent events: `log` for each line, `ended` |
| POST api/experiments/NUMBER/cancel | interrupt it |

and those of cards (card_requests.py) and of their runs (journal_requests.py).

An error is {"error": LINE}, with a status of 4xx.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from understudy_devices import __version__
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.studio import comparison, experiments, recorded_runs, run_files, runs
from understudy_devices.studio.card_requests import Cards
from understudy_devices.studio.experiments import RUNNING, Experiment
from understudy_devices.studio.journal_requests import Journals
from understudy_devices.studio.safety import Guard

LOOK_SECONDS = 0.25
PIECE = 2**16  # bytes of a log sent at once
LINE_MOST = 4096
NO_RUN = "no such run: it was deleted, or has another name now; look at the list again"
SEED = re.compile(r"[0-9]{1,19}")
REPORT_POLICY = (
    "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:"
)


class Start(BaseModel):
    """A command to start: its words, without `understudy`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    words: list[str]


def application(folder: Path, page: Path, path: str, token: str, port: int) -> Guard:
    """Return the server of a folder, with the built page, below a path."""
    api = _Api(folder)
    routes = [
        Route("/api/about", api.about),
        Route("/api/runs", api.runs),
        Route("/api/runs/{name:path}/result", api.result),
        Route("/api/runs/{name:path}/report", api.report),
        Route("/api/runs/{name:path}/recorded", api.recorded),
        Route("/api/runs/{name:path}/requests", api.requests),
        Route("/api/comparison", api.comparison),
        Route("/api/experiments", api.experiments),
        Route("/api/experiments", api.start, methods=["POST"]),
        Route("/api/experiments/{number}/events", api.events),
        Route("/api/experiments/{number}/cancel", api.cancel, methods=["POST"]),
        *Cards(folder).routes(),
        *Journals(folder).routes(),
        Mount("/", StaticFiles(directory=page, html=True)),
    ]
    return Guard(Starlette(routes=[Mount(path.rstrip("/"), routes=routes)]), token, port, path)


class _Api:
    """Answers for one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._one_at_a_time = asyncio.Lock()  # of runs with many requests

    async def about(self, _: Request) -> Response:
        return JSONResponse(
            {
                "folder": str(self._folder),
                "version": __version__,
                "commands": list(experiments.COMMANDS),
            }
        )

    async def runs(self, _: Request) -> Response:
        listed, more = await run_sync(runs.every, self._folder)
        return JSONResponse({"runs": listed, "more": more})

    async def result(self, request: Request) -> Response:
        run = self._run(request)
        if run is None:
            return _error(NO_RUN, 404)
        try:
            return JSONResponse(await run_sync(runs.read, run))
        except ValueError as error:
            return _error(str(error), 409)

    async def report(self, request: Request) -> Response:
        run = self._run(request)
        file = run and run_files.inside(run, runs.REPORT)
        if file is None:
            return _error("no report: look at the list again", 404)
        headers = {"Content-Security-Policy": REPORT_POLICY}
        return FileResponse(file, media_type="text/html", headers=headers)

    async def recorded(self, request: Request) -> Response:
        run = self._run(request)
        if run is None:
            return _error(NO_RUN, 404)
        try:
            return JSONResponse(await run_sync(recorded_runs.listed, run))
        except UserError as error:
            return _error(str(error), 409)

    async def requests(self, request: Request) -> Response:
        run, asked = self._run(request), request.query_params
        scheduler, seed = asked.get("scheduler", ""), asked.get("seed", "")
        if run is None:
            return _error(NO_RUN, 404)
        if not (scheduler and SEED.fullmatch(seed)):
            return _error("seed: name a scheduler and a seed, as ?scheduler=cats&seed=1", 400)
        try:
            async with self._one_at_a_time:
                packed = await run_sync(recorded_runs.packed, run, scheduler, int(seed))
        except UserError as error:
            return _error(str(error), 409)
        return Response(packed, media_type="application/octet-stream")

    async def comparison(self, request: Request) -> Response:
        names = request.query_params.getlist("run")
        if not 2 <= len(names) <= comparison.MOST:
            return _error(f"run: name 2 to {comparison.MOST} runs", 400)
        found = [runs.inside(self._folder, name) for name in names]
        if None in found:
            return _error(f"{names[found.index(None)]}: {NO_RUN}", 404)
        there = [one for one in found if one]
        return JSONResponse(await run_sync(comparison.compared, self._folder, there))

    async def experiments(self, _: Request) -> Response:
        every = await run_sync(experiments.every, self._folder)
        return JSONResponse({"experiments": [one.as_json() for one in every]})

    async def start(self, request: Request) -> Response:
        try:
            asked = Start.model_validate_json(await request.body())
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            return _error(f"{place or 'the request'}: {first['msg']}", 400)
        try:
            one = await run_sync(experiments.start, self._folder, asked.words)
        except (UserError, RunFailed) as error:
            return _error(str(error), 400)
        except OSError as error:
            return _error(f"{self._folder}: {error.strerror}", 507)
        return JSONResponse(one.as_json(), 201)

    async def cancel(self, request: Request) -> Response:
        one = self._experiment(request)
        if one is None:
            return _error("no such experiment: look at the list again", 404)
        if not one.cancel():
            return _error(f"{one.number} has ended", 409)
        return JSONResponse(one.as_json())

    async def events(self, request: Request) -> Response:
        one = self._experiment(request)
        if one is None:
            return _error("no such experiment: look at the list again", 404)
        return StreamingResponse(_events(one), media_type="text/event-stream")

    def _run(self, request: Request) -> Path | None:
        return runs.inside(self._folder, request.path_params["name"])

    def _experiment(self, request: Request) -> Experiment | None:
        return experiments.of_number(self._folder, request.path_params["number"])


async def _events(one: Experiment) -> AsyncIterator[str]:
    """Yield each line that the command prints, from the first one on, until it has ended."""
    place, rest = 0, b""
    while True:
        state = one.state  # before the log is read, so that no last line is missed
        while piece := _piece(one.log, place):
            place += len(piece)
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                yield _event("log", _text(line))
            rest = rest[-LINE_MOST:]
        if state != RUNNING:
            break
        await asyncio.sleep(LOOK_SECONDS)
    if rest:
        yield _event("log", _text(rest))
    yield _event("ended", one.as_json())


def _piece(file: Path, place: int) -> bytes:
    try:
        with file.open("rb") as log:
            log.seek(place)
            return log.read(PIECE)
    except OSError:
        return b""


def _text(line: bytes) -> str:
    return line[:LINE_MOST].decode(errors="replace").rstrip("\r")


def _event(name: str, value: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(value)}\n\n"


def _error(line: str, status: int) -> Response:
    return JSONResponse({"error": line}, status)
