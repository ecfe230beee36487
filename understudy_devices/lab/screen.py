# SPDX-License-Identifier: MIT
"""The screen of a team's VM: a picture of it, and the socket at which QEMU serves it (VNC).

The socket is in the team's folder, which only its owner and root may look into; QEMU asks for no
password.  Whoever looks is logged (viewers.py).
"""

import io
import os
import socket
from contextlib import suppress

from PIL import Image

from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import first_start, holder, owner, viewers
from understudy_devices.lab.hardware import DISPLAY
from understudy_devices.lab.monitor import Monitor, connect
from understudy_devices.lab.store import Team

PIXELS_MAX = 8192 * 8192
BYTES_MAX = 3 * PIXELS_MAX + 64  # with the picture's heading


def obstacle(team: Team, command: str = "display") -> str:
    """Return why nobody can see the VM's screen; empty if one can."""
    with owner.acting(team.folder):
        who = holder.of(team)
        if not who or not who.is_here:
            return holder.why_not(team, command)
        try:
            first_start.check(team)
        except RunFailed as error:
            return str(error)
        if not (team.folder / DISPLAY).is_socket():
            return (
                f"{team.name} runs without a display: an earlier version has started or suspended "
                f"it; after {team.words('stop')}, a start gives it one"
            )
    return ""


def connected(team: Team) -> socket.socket:
    """Return a connection to the VM's display; RunFailed if nobody can see it."""
    if reason := obstacle(team):
        raise RunFailed(reason)
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        line.setblocking(False)
        with owner.acting(team.folder):
            connect(line, team.folder, DISPLAY)
    except OSError as error:
        line.close()
        raise RunFailed(
            f"{team.name}: its QEMU does not answer: {error.strerror}; try again"
        ) from None
    return line


def picture(team: Team) -> bytes:
    """Return what the VM's screen shows, as a PNG file; RunFailed if nobody can see it."""
    if reason := obstacle(team, "screenshot"):
        raise RunFailed(reason)
    with owner.acting(team.folder):
        viewers.note(team, "took a picture")
        with Monitor(team.folder) as monitor:
            content = _dumped(monitor)
    return _as_png(team, content)


def _dumped(monitor: Monitor) -> bytes:
    """Return the picture that QEMU writes, in the format PPM, into a file without a name."""
    file = os.memfd_create("screen", os.MFD_CLOEXEC)
    try:
        only_to_write = os.open(f"/proc/self/fd/{file}", os.O_WRONLY | os.O_CLOEXEC)
        try:
            number = monitor.do("add-fd", only_to_write)["fdset-id"]
        finally:
            os.close(only_to_write)
        try:
            monitor.do("screendump", filename=f"/dev/fdset/{number}")
        finally:
            with suppress(RunFailed):
                monitor.do("remove-fd", fdset_id=number)
        return os.pread(file, BYTES_MAX, 0)
    finally:
        os.close(file)


def _as_png(team: Team, content: bytes) -> bytes:
    """Convert the picture; the team's QEMU, which has written it, may be another program."""
    png = io.BytesIO()
    try:
        with Image.open(io.BytesIO(content), formats=["PPM"]) as screen:
            if screen.width * screen.height > PIXELS_MAX:
                raise ValueError
            screen.save(png, "PNG")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise RunFailed(f"{team.name}: its QEMU has written no picture") from None
    return png.getvalue()
