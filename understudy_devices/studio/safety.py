# SPDX-License-Identifier: MIT
"""What the studio's server asks of each request, and says with each answer.

A page of another site may send requests to this computer, too.  So the server

* answers only if the request names it as its host, which stops a site whose name is made to mean
  this computer (DNS rebinding);
* answers below api/ only with the token, from the link that was printed: as a cookie that a
  browser sends from the studio's own pages alone, or as `Authorization: Bearer TOKEN`;
* changes something, or opens a WebSocket, only if the request's origin is its own page, or if
  there is no origin and the token is no cookie, as in a program;
* has each answer say that a page may ask no other host, and run no script but the page's own.

A browser sends a cookie to every port of this computer, and another user may listen at one.  So
each server has a secret path, binds the cookie to it, and answers at no other path.
"""

import secrets
from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

Answer = Callable[[Request], Awaitable[Response]]

API = "api/"
SAFE = ("GET", "HEAD")
BODY_MOST = 2**20
TOKEN_LETTERS = 200
POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Guard:
    """Lets through what this module allows."""

    def __init__(self, app: ASGIApp, token: str, port: int, path: str) -> None:
        """Guard an application that listens at a port of this computer, below a path."""
        self._app, self._token, self._path = app, token, path
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._cookie = f"understudy-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            denial = self._denial(HTTPConnection(scope))
            if denial:
                await WebSocket(scope, receive, send).send_denial_response(denial)
            else:
                await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        refusal = self._refusal(request)

        async def say(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await (refusal or self._app)(scope, receive, say)

    def _refusal(self, request: Request) -> Response | None:
        """Return why a request is not answered, or where it begins; None if it is answered."""
        if elsewhere := self._elsewhere(request):
            return elsewhere
        if (token := request.query_params.get("token")) and request.method == "GET":
            return self._entered(request, token)
        if not request.url.path.startswith(self._path + API):
            return None
        if request.method in SAFE:
            return self._unknown(request)
        if denial := self._unknown(request) or self._foreign(request):
            return denial
        length = request.headers.get("content-length", "")
        if not (length.isascii() and length.isdigit() and int(length[:9]) <= BODY_MOST):
            return PlainTextResponse(f"more than {BODY_MOST:,} bytes, or no length", 413)
        return None

    def _denial(self, connection: HTTPConnection) -> Response | None:
        """Return why no WebSocket is opened; None if it is."""
        return self._elsewhere(connection) or self._unknown(connection) or self._foreign(connection)

    def _elsewhere(self, connection: HTTPConnection) -> Response | None:
        if connection.headers.get("host") not in self._hosts:
            return PlainTextResponse("another host: open the printed link", 421)
        if not connection.url.path.startswith(self._path):
            return PlainTextResponse("nothing here: open the printed link", 404)
        return None

    def _unknown(self, connection: HTTPConnection) -> Response | None:
        if self._has_cookie(connection):
            return None
        kind, _, token = connection.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self._is_right(token):
            return None
        return PlainTextResponse("no token: open the printed link", 401)

    def _foreign(self, connection: HTTPConnection) -> Response | None:
        origin = connection.headers.get("origin")
        own = {f"http://{host}" for host in self._hosts}
        if origin not in own and (origin is not None or self._has_cookie(connection)):
            return PlainTextResponse("from another site: open the printed link", 403)
        return None

    def _has_cookie(self, connection: HTTPConnection) -> bool:
        return self._is_right(connection.cookies.get(self._cookie))

    def _entered(self, request: Request, token: str) -> Response:
        """Keep the token as a cookie, and take it out of the address."""
        if not self._is_right(token):
            return PlainTextResponse("another token: open the last printed link", 401)
        rest = [
            (name, value) for name, value in request.query_params.multi_items() if name != "token"
        ]
        path = "/" + request.url.path.lstrip("/")
        answer = RedirectResponse(f"{path}?{urlencode(rest)}" if rest else path, 303)
        answer.set_cookie(
            self._cookie, self._token, path=self._path, httponly=True, samesite="strict"
        )
        return answer

    def _is_right(self, token: str | None) -> bool:
        given = (token or "")[:TOKEN_LETTERS].encode()
        return secrets.compare_digest(given, self._token.encode())
