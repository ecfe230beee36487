# SPDX-License-Identifier: MIT
"""Carries bytes between a browser's WebSocket and a connection to QEMU's VNC server.

Neither side is read faster than the other one takes what comes.
"""

import asyncio
import socket
from contextlib import suppress
from typing import NamedTuple

from starlette.websockets import WebSocket, WebSocketDisconnect

CHUNK = 2**16
GOING_AWAY, NOT_BYTES = 1001, 1003  # RFC 6455, section 7.4.1


class End(NamedTuple):
    """Why the relay ended, as the WebSocket's close frame says it."""

    code: int
    reason: str


VM_ENDED = End(GOING_AWAY, "the VM has ended")


async def relay(browser: WebSocket, line: socket.socket) -> None:
    """Carry bytes both ways until one side ends; close both."""
    reader, writer = await asyncio.open_unix_connection(sock=line)
    ways = [
        asyncio.create_task(_to_vm(browser, writer)),
        asyncio.create_task(_to_browser(reader, browser)),
    ]
    try:
        done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        writer.close()
    await asyncio.wait(ways)  # gather would hide from AnyIO that the server cancels this
    end = next(iter(done)).result()
    if end:
        with suppress(WebSocketDisconnect, RuntimeError):  # the browser has left meanwhile
            await browser.close(end.code, end.reason)


async def _to_vm(browser: WebSocket, writer: asyncio.StreamWriter) -> End | None:
    """Return None if the browser has left."""
    while True:
        message = await browser.receive()
        if message["type"] == "websocket.disconnect":
            return None
        data = message.get("bytes")
        if data is None:
            return End(NOT_BYTES, "VNC is bytes, and this was text")
        try:
            writer.write(data)
            await writer.drain()
        except OSError:
            return VM_ENDED


async def _to_browser(reader: asyncio.StreamReader, browser: WebSocket) -> End | None:
    """Return None if the browser has left."""
    while True:
        try:
            data = await reader.read(CHUNK)
        except OSError:
            return VM_ENDED
        if not data:
            return VM_ENDED
        try:
            await browser.send_bytes(data)
        except WebSocketDisconnect:
            return None
