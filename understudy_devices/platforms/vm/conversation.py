# SPDX-License-Identifier: MIT
"""Exchanges messages with a guest. In the guest, no time passes while the host computes.

A guest pauses by writing to the port of QEMU's pvpanic: QEMU stops the machine at that very
instruction.  The host reads the machine's state, changes it, and continues the machine.

In the virtual clock a program in the guest may ask a question instead, which takes only a fifth of
the host time of a pause. The program writes its question to the wire's first page, and then to the
port of a debug console. The write to the port blocks until the host has written its answer
(host/qemu/questions.c). guest/serve.c is the guest's end.
"""

import mmap
import struct
from collections.abc import Callable, Mapping
from pathlib import Path

from understudy_devices.base.errors import RunFailed
from understudy_devices.platforms.vm import wire
from understudy_devices.platforms.vm.link import Gone, Link
from understudy_devices.platforms.vm.monitor import Monitor

WORDS_AT = 1024  # offset of the host's words in the wire's first page
ANSWER_AT = 2048
GO_ON = b"!"


class Conversation:
    """A conversation with a guest; `out` holds the files that the guest left when it ended."""

    out: Mapping[str, bytes]

    def __init__(
        self, monitor: Monitor, questions: Link, path: Path, died: Callable[[Gone], RunFailed]
    ) -> None:
        """Begin a conversation. path: the guest's wire. died: returns the error to raise if the
        guest has ended.
        """
        self._monitor = monitor
        self._questions = questions
        self._died = died
        with path.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), wire.PAGE_BYTES)

    def wait(self) -> None:
        """Wait until the guest pauses."""
        try:
            self._monitor.wait_until_stopped()
        except Gone as error:
            raise self._died(error) from error

    def go_on(self) -> None:
        """Continue the guest after its pause."""
        try:
            self._monitor.do("cont")
        except Gone as error:
            raise self._died(error) from error

    def asked(self, words: struct.Struct) -> tuple[int, ...]:
        """Return the guest's next question."""
        try:
            self._questions.receive()
        except Gone as error:
            raise self._died(error) from error
        return words.unpack_from(self._page, ANSWER_AT)

    def answer(self, words: struct.Struct, *values: int) -> None:
        """Answer the guest's question, so that the guest continues."""
        words.pack_into(self._page, WORDS_AT, *values)
        try:
            self._questions.send(GO_ON)
        except Gone as error:
            raise self._died(error) from error

    def screendump(self, path: Path) -> None:
        """Write the guest's display to a PPM file."""
        try:
            self._monitor.do("screendump", filename=str(path))
        except Gone as error:
            raise self._died(error) from error

    def limit(self, group: str, requests_per_second: int) -> None:
        """Set QEMU's own throttle on the disks of that throttle group; 0: no limit."""
        limits = {"iops-total": requests_per_second}
        try:
            self._monitor.do("qom-set", path=f"/objects/{group}", property="limits", value=limits)
        except Gone as error:
            raise self._died(error) from error

    def close(self) -> None:
        """Close the wire."""
        self._page.close()
