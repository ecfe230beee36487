# SPDX-License-Identifier: MIT
"""`understudy lab display` and `screenshot`: the screen of a VM, in a browser or as a picture."""

from pathlib import Path

import click

from understudy_devices.base import scratch
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.cli import loopback
from understudy_devices.cli.lab_options import FILE, FOLDER, NAME, TEAM
from understudy_devices.lab import store

LEAVE_SECONDS = 10


@click.command("display", epilog="Example: understudy lab display os822 team07")
@NAME
@TEAM
@loopback.PORT
@click.option("--viewers", "lists", is_flag=True, help="Print who looks at the screen, and stop.")
@FOLDER
def display_command(name: str, team: str, port: int, lists: bool, labs: Path) -> int:
    """Serve a VM's screen to a browser on this computer, until Ctrl-C.

    Open the printed link; nobody can see the screen without it. The team sees who looks, also if
    that is a teacher. The VM goes on when the command ends.
    """
    from understudy_devices.lab import screen, viewers

    chosen = store.read(labs, name).team(team)
    if lists:
        for each in viewers.now(chosen):
            click.echo(each.words)
        return 0
    from understudy_devices.studio import display, page

    if reason := screen.obstacle(chosen):
        raise RunFailed(reason)
    with loopback.listening(port) as listener:
        number = listener.getsockname()[1]
        path, token = loopback.secret_path(), loopback.secret()
        app = display.application(chosen, page.folder(), path, token, number)
        click.echo(f"http://127.0.0.1:{number}{path}{display.PAGE}?token={token}")
        click.echo(f"{team}: the screen is at this link; Ctrl-C ends it", err=True)
        scratch.say_if_interrupted(f"{team}: the display has ended; the VM goes on")
        scratch.report_if_interrupted(LEAVE_SECONDS)  # viewers leave, and that is logged
        return loopback.serve(app, listener)


@click.command("screenshot", epilog="Example: understudy lab screenshot os822 team07")
@NAME
@TEAM
@click.option("--out", type=FILE, metavar="FILE.png", help="The picture [default: TEAM.png].")
@FOLDER
def screenshot_command(name: str, team: str, out: Path | None, labs: Path) -> None:
    """Write what a VM's screen shows into a PNG file.  The team's visits.log says who did."""
    from understudy_devices.lab import screen

    chosen = store.read(labs, name).team(team)
    out = out or Path(f"{team}.png")
    if out.suffix.lower() != ".png":
        raise UserError(f"--out {out}: name a .png file")
    if not out.parent.is_dir():
        raise UserError(f"--out {out}: no folder {out.parent}; make it first")
    content = screen.picture(chosen)
    with scratch.replacing(out) as fresh:
        fresh.write_bytes(content)
    click.echo(f"wrote {out}", err=True)
