# SPDX-License-Identifier: MIT
"""Talk to a guest, for which no time passes while we think, however long: it can't tell.

A guest rests at the port of QEMU's pvpanic: QEMU stops the machine at that very instruction.  We
look at it, change it, and let it go on.

In the virtual clock a program of the guest may ask, which takes a fifth of that.  It leaves its
words on the wire's first page and says so at the port of a debug console, where QEMU holds it up
until we have laid down our answer (host/qemu/questions.c).  guest/serve.c is the other end.
"""

import mmap
import struct
from collections.abc import Callable, Mapping
from pathlib import Path

from understudy.base.errors import RunFailed
from understudy.platforms.vm import wire
from understudy.platforms.vm.link import Gone, Link
from understudy.platforms.vm.monitor import Monitor

WORDS_AT = 1024  # of ours, on the wire's first page
ANSWER_AT = 2048
GO_ON = b"!"


class Conversation:
    """With a guest that is about to rest or to ask; `out` is what it left when it ended."""

    out: Mapping[str, bytes]

    def __init__(
        self, monitor: Monitor, questions: Link, path: Path, died: Callable[[Gone], RunFailed]
    ) -> None:
        """`path`: its wire; `died` says what to raise if it has ended."""
        self._monitor = monitor
        self._questions = questions
        self._died = died
        with path.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), wire.PAGE_BYTES)

    def wait(self) -> None:
        """Until it rests."""
        try:
            self._monitor.wait_until_stopped()
        except Gone as error:
            raise self._died(error) from error

    def go_on(self) -> None:
        """Let it, after its rest."""
        try:
            self._monitor.do("cont")
        except Gone as error:
            raise self._died(error) from error

    def asked(self, words: struct.Struct) -> tuple[int, ...]:
        """What it says as soon as it asks."""
        try:
            self._questions.receive()
        except Gone as error:
            raise self._died(error) from error
        return words.unpack_from(self._page, ANSWER_AT)

    def answer(self, words: struct.Struct, *values: int) -> None:
        """And let it go on."""
        words.pack_into(self._page, WORDS_AT, *values)
        try:
            self._questions.send(GO_ON)
        except Gone as error:
            raise self._died(error) from error

    def screendump(self, path: Path) -> None:
        """What the guest's display shows, as a PPM file."""
        try:
            self._monitor.do("screendump", filename=str(path))
        except Gone as error:
            raise self._died(error) from error

    def limit(self, group: str, requests_per_second: int) -> None:
        """QEMU's own throttle on the disks of that throttle group; 0: none."""
        limits = {"iops-total": requests_per_second}
        try:
            self._monitor.do("qom-set", path=f"/objects/{group}", property="limits", value=limits)
        except Gone as error:
            raise self._died(error) from error

    def close(self) -> None:
        """Forget the wire."""
        self._page.close()
