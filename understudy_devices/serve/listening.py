# SPDX-License-Identifier: MIT
"""The address at which clients find the disk: a socket in the file system, or a port of this host.

This process opens the socket before the server starts, and passes it to the server.  So a wrong
address is reported at once, and no client can connect too early.
"""

import shlex
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from understudy_devices.base import scratch
from understudy_devices.base.errors import UserError

HOST = "127.0.0.1"  # only this host can connect, since NBD has no authentication
PATH_BYTES_MAX = 107  # struct sockaddr_un
BACKLOG = 128


@dataclass(frozen=True)
class Place:
    """A disk's address, in the formats of different clients."""

    uri: str
    qemu: str
    nbd_client: str

    def ways(self) -> dict[str, str]:
        """Return the commands that attach the disk, by purpose."""
        drive = f"file={self.qemu.replace(',', ',,')},format=raw,if=virtio"
        uri = shlex.quote(self.uri)
        fio = f"fio --name=reads --ioengine=nbd --uri={uri} --rw=randread --bs=4k --number_ios=1000"
        return {
            "guest": f"qemu-system-x86_64 -drive {shlex.quote(drive)} ...",
            "host": f"nbd-client {self.nbd_client} /dev/nbd0",
            "copy": f"nbdcopy image.raw {uri}",
            "measure": fio,
        }


@dataclass(frozen=True)
class Listening:
    """A listening socket and its address."""

    socket: socket.socket
    place: Place


@contextmanager
def at_socket(path: Path) -> Iterator[Listening]:
    """Yield a new listening socket in the file system; remove it at the end."""
    absolute = path.absolute()
    if absolute.exists() or absolute.is_symlink():
        raise UserError(f"--socket: {path} exists; remove it, or name another")
    if (length := len(str(absolute).encode())) > PATH_BYTES_MAX:
        raise UserError(
            f"--socket: {absolute} has {length} bytes, and a socket's name {PATH_BYTES_MAX} at "
            "most; take a shorter one, such as /tmp/disk.sock"
        )
    place = Place(
        uri=f"nbd+unix:///?socket={quote(str(absolute))}",
        qemu=f"nbd:unix:{absolute}",
        nbd_client=f"-unix {shlex.quote(str(absolute))}",
    )
    with socket.socket(socket.AF_UNIX) as listener, scratch.place(absolute):
        try:
            listener.bind(str(absolute))
        except OSError as error:
            raise UserError(f"--socket: {path}: {error.strerror}") from error
        listener.listen(BACKLOG)
        yield Listening(listener, place)


@contextmanager
def at_port(port: int) -> Iterator[Listening]:
    """Yield a port that only programs of this host can reach; 0 means any free port."""
    with socket.socket(socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError as error:
            raise UserError(
                f"--port: {port}: {error.strerror}; 0 takes one that is free, --socket needs none"
            ) from error
        listener.listen(BACKLOG)
        number = listener.getsockname()[1]
        place = Place(f"nbd://{HOST}:{number}", f"nbd:{HOST}:{number}", f"{HOST} {number}")
        yield Listening(listener, place)
