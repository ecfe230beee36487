# SPDX-License-Identifier: MIT
"""An NBD client for the tests, written from the specification (doc/proto.md of the NBD project):
fixed newstyle handshake, simple replies.
"""

import socket
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

READ, WRITE, DISCONNECT, FLUSH, TRIM, CACHE, WRITE_ZEROES = range(7)
FUA = 1
HAS_FUA, IS_ROTATIONAL, HAS_TRIM, HAS_ZEROES = 8, 16, 32, 64
MULTI_CONNECTION, HAS_CACHE, FAST_ZERO = 256, 1024, 2048
INFO_EXPORT, INFO_BLOCK_SIZE = 0, 3
ACK, INFO = 1, 3
GO = 7

AT_ONCE = 24


class RefusedError(Exception):
    """The server refused the connection."""


@dataclass(frozen=True)
class Request:
    """A request; its offset and length are in bytes."""

    kind: int
    offset: int = 0
    length: int = 0
    flags: int = 0
    data: bytes = b""


class Client:
    """One connection, on which several requests may be in flight."""

    def __init__(self, at: Path | int) -> None:
        """Connect to a socket in the file system (a path) or to a TCP port of this host
        (a number).
        """
        if isinstance(at, Path):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(str(at))
        else:
            self.socket = socket.create_connection(("127.0.0.1", at))
        self._next = 0
        self._lengths: dict[int, int] = {}
        self.size = self.flags = 0
        self.blocks: tuple[int, ...] = ()
        try:
            self._shake_hands()
        except BaseException:
            self.socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.socket.close()

    def _shake_hands(self) -> None:
        greeting = self._take(18)
        assert greeting[:16] == b"NBDMAGICIHAVEOPT"
        export = b""
        asked = struct.pack(">I", len(export)) + export + struct.pack(">HH", 1, INFO_BLOCK_SIZE)
        self.socket.sendall(struct.pack(">I8sII", 3, b"IHAVEOPT", GO, len(asked)) + asked)
        while True:
            magic, option, kind, length = struct.unpack(">QIII", self._take(20))
            assert (magic, option) == (0x3E889045565A9, GO)
            reply = self._take(length)
            if kind == ACK:
                return
            if kind != INFO:
                raise RefusedError(reply.decode())
            if reply[:2] == struct.pack(">H", INFO_EXPORT):
                self.size, self.flags = struct.unpack(">QH", reply[2:])
            elif reply[:2] == struct.pack(">H", INFO_BLOCK_SIZE):
                self.blocks = struct.unpack(">III", reply[2:])

    def send(self, request: Request) -> int:
        """Send the request and return its number."""
        self._next += 1
        length = request.length or len(request.data)
        self._lengths[self._next] = length if request.kind == READ else 0
        head = (0x25609513, request.flags, request.kind, self._next, request.offset, length)
        self.socket.sendall(struct.pack(">IHHQQI", *head) + request.data)
        return self._next

    def receive(self) -> tuple[int, int, bytes]:
        """Receive the next answer; return its request's number, its error and its data."""
        magic, error, number = struct.unpack(">IIQ", self._take(16))
        assert magic == 0x67446698
        length = self._lengths.pop(number)
        return number, error, b"" if error else self._take(length)

    def ask(self, request: Request) -> bytes:
        """Send one request and return its data; raise OSError with the server's error."""
        number = self.send(request)
        answered, error, data = self.receive()
        assert answered == number
        if error:
            raise OSError(error, f"the server says {error}")
        return data

    def ask_all(self, requests: Iterable[Request]) -> list[bytes]:
        """Send all requests and return their data in the order of the requests.

        At most AT_ONCE requests are in flight. More could fill the buffers of both sockets, and
        then client and server would block each other.
        """
        numbers: list[int] = []
        answers: dict[int, bytes] = {}
        for request in requests:
            if len(numbers) - len(answers) == AT_ONCE:
                self._keep(answers)
            numbers.append(self.send(request))
        while len(answers) < len(numbers):
            self._keep(answers)
        return [answers[number] for number in numbers]

    def _keep(self, answers: dict[int, bytes]) -> None:
        number, error, data = self.receive()
        assert not error
        answers[number] = data

    def read(self, sector: int, sectors: int = 8) -> bytes:
        """Read `sectors` sectors from `sector` on."""
        return self.ask(Request(READ, 512 * sector, 512 * sectors))

    def write(self, sector: int, data: bytes, flags: int = 0) -> None:
        """Write the data from `sector` on."""
        self.ask(Request(WRITE, 512 * sector, flags=flags, data=data))

    def _take(self, length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            more = self.socket.recv(length - len(data))
            if not more:
                raise ConnectionError("the server has closed the connection")
            data += more
        return bytes(data)
