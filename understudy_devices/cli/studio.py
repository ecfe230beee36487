# SPDX-License-Identifier: MIT
"""`understudy studio`: serve the studio's page, with the runs and experiments of a folder."""

import secrets
import socket
from pathlib import Path

import click

from understudy_devices.base import scratch
from understudy_devices.base.errors import UserError

EXIT_INTERRUPTED = 130  # docs/decisions/0027-stopping.md
PORT_MAX = 65535
BACKLOG = 128


@click.command("studio", epilog="Example: understudy studio results/")
@click.argument("folder", type=click.Path(path_type=Path), default=".")
@click.option(
    "--port",
    type=click.IntRange(0, PORT_MAX),
    default=0,
    help="Port of this computer to listen at; 0: any free one.",
)
def command(folder: Path, port: int) -> int:
    """Serve the studio to a browser on this computer, until Ctrl-C.

    The page simulates disks in the browser, like the page of `make studio`. Through this command it
    also lists the run folders in FOLDER, and starts commands there. A started command goes on when
    the browser or the studio ends (docs/studio.md).

    Only this computer can reach it, and only with the printed link.
    """
    import uvicorn  # imported here, since the import takes a fifth of a second

    from understudy_devices.studio import page, server

    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; make it first, or name another")
    built = page.folder()
    with _listening(port) as listener:
        number = listener.getsockname()[1]
        token = secrets.token_urlsafe(24)
        app = server.application(folder.resolve(), built, token, number)
        click.echo(f"http://127.0.0.1:{number}/studio.html?token={token}")
        click.echo(f"the studio of {folder.resolve()}; Ctrl-C ends it", err=True)
        scratch.say_if_interrupted("the studio has ended; its experiments go on")
        config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off")
        uvicorn.Server(config).run(sockets=[listener])
    return EXIT_INTERRUPTED


def _listening(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise UserError(f"--port {port}: {error.strerror}; take another, or 0") from error
    return listener
