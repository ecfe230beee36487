# SPDX-License-Identifier: MIT
"""Answers of the studio's server: JSON, or {"error": LINE} with a status of 4xx."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, TypeVar

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from understudy_devices.base.errors import RunFailed, UserError

Part = TypeVar("Part")


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    """An answer with this status."""

    def __init__(self, error: str, status: int, **more: Any) -> None:
        super().__init__(error)
        self.answer = JSONResponse({"error": error, **more}, status)


def answering(
    method: Callable[[Part, Request], Awaitable[dict[str, Any]]],
) -> Callable[[Part, Request], Awaitable[Response]]:
    """Return the method with its answer, or what is wrong, as a response."""

    @wraps(method)
    async def answer(part: Part, request: Request) -> Response:
        try:
            return JSONResponse(await method(part, request))
        except Refused as refused:
            return refused.answer
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(step) for step in first["loc"])
            return JSONResponse({"error": f"{place or 'the request'}: {first['msg']}"}, 400)
        except UserError as error:
            return JSONResponse({"error": str(error)}, 400)
        except RunFailed as error:
            return JSONResponse({"error": str(error)}, 409)

    return answer
