# SPDX-License-Identifier: MIT
"""Serves a page to a browser on this computer, until Ctrl-C."""

import secrets
import socket
from typing import TYPE_CHECKING

import click

from understudy_devices.base.errors import UserError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

EXIT_INTERRUPTED = 130  # docs/decisions/0027-stopping.md
PORT_MAX = 65535
SECRET_BYTES = 24
BACKLOG = 128
MESSAGE_MOST = 2**16  # bytes of a WebSocket's message from a browser
PORT = click.option(
    "--port",
    type=click.IntRange(0, PORT_MAX),
    default=0,
    help="Port of this computer to listen at; 0: any free one.",
)


def listening(port: int) -> socket.socket:
    """Return a socket that listens at a port of this computer; 0: any free one.

    UserError if it is taken.
    """
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise UserError(f"--port {port}: {error.strerror}; take another, or 0") from error
    return listener


def secret() -> str:
    """Return a word that nobody can guess, for an address."""
    return secrets.token_urlsafe(SECRET_BYTES)


def secret_path() -> str:
    """Return a path that nobody can guess, to which a browser binds the page's cookie."""
    return f"/{secret()}/"


def serve(app: "ASGIApp", listener: socket.socket) -> int:
    """Serve until Ctrl-C; return the exit code.  No address is logged, since it has a secret."""
    import uvicorn  # imported here, since the import takes a fifth of a second

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="wsproto",
        ws_max_size=MESSAGE_MOST,
        ws_per_message_deflate=False,
    )
    uvicorn.Server(config).run(sockets=[listener])
    return EXIT_INTERRUPTED
