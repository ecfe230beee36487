# SPDX-License-Identifier: MIT
"""`understudy studio`: serve the studio's page, with the runs and experiments of a folder."""

from pathlib import Path

import click

from understudy_devices.base import scratch
from understudy_devices.base.errors import UserError
from understudy_devices.cli import loopback


@click.command("studio", epilog="Example: understudy studio results/")
@click.argument("folder", type=click.Path(path_type=Path), default=".")
@loopback.PORT
def command(folder: Path, port: int) -> int:
    """Serve the studio to a browser on this computer, until Ctrl-C.

    The page simulates disks in the browser, like the page of `make studio`. Through this command it
    also lists the run folders in FOLDER, and starts commands there. A started command goes on when
    the browser or the studio ends (docs/studio.md).

    Only this computer can reach it, and only with the printed link.
    """
    from understudy_devices.studio import page, server

    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; make it first, or name another")
    built = page.folder()
    with loopback.listening(port) as listener:
        number = listener.getsockname()[1]
        path, token = loopback.secret_path(), loopback.secret()
        app = server.application(folder.resolve(), built, path, token, number)
        click.echo(f"http://127.0.0.1:{number}{path}studio.html?token={token}")
        click.echo(f"the studio of {folder.resolve()}; Ctrl-C ends it", err=True)
        scratch.say_if_interrupted("the studio has ended; its experiments go on")
        return loopback.serve(app, listener)
