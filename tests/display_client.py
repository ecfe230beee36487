# SPDX-License-Identifier: MIT
"""The command `understudy lab display`, and a client that sends what no browser does."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx2 as httpx
import wsproto
from lab_class import NAME, PATIENCE_SECONDS, Class
from served_studio import served
from wsproto.events import AcceptConnection, Event, Request


@contextmanager
def display_of(lab: Class, team: str = "team01") -> Iterator[str]:
    with served("lab", "display", NAME, team, "--folder", lab.labs) as link:
        yield link


class Client:
    """A WebSocket to a display, which sends what it is told."""

    def __init__(self, link: str) -> None:
        parts = urlsplit(link)
        origin = f"{parts.scheme}://{parts.netloc}"
        with httpx.Client(follow_redirects=False) as entering:
            cookie = entering.get(link).headers["set-cookie"].partition(";")[0]
        path = parts.path.rpartition("/")[0] + "/api/screen"
        headers = [(b"Origin", origin.encode()), (b"Cookie", cookie.encode())]
        self._line = socket.create_connection((parts.hostname, parts.port), PATIENCE_SECONDS)
        self._protocol = wsproto.WSConnection(wsproto.ConnectionType.CLIENT)
        self.send(Request(parts.netloc, path, extra_headers=headers))
        assert isinstance(self.next(), AcceptConnection)

    def send(self, event: Event) -> None:
        self.send_raw(self._protocol.send(event))

    def send_raw(self, data: bytes) -> None:
        self._line.sendall(data)

    def next(self) -> Event | None:
        """Return what the server sends next; None if it has ended the connection."""
        while True:
            for event in self._protocol.events():
                return event
            try:
                data = self._line.recv(65536)
            except ConnectionError:
                return None
            if not data:
                return None
            self._protocol.receive_data(data)

    def close(self) -> None:
        self._line.close()
