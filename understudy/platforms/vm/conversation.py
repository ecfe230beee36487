# SPDX-License-Identifier: MIT
"""Talk to a guest that rests whenever it has something to say.

It leaves its words on the wire's first page and says so at the port of QEMU's pvpanic: QEMU
stops the machine at that very instruction, and its clock with it.  We read, lay down an answer and
let it go on.  So however long we think, no time passes for the guest, and it can't tell.
guest/serve.c is the other end.
"""

import mmap
import struct
from collections.abc import Callable, Mapping
from pathlib import Path

from understudy.base.errors import RunFailed
from understudy.platforms.vm import wire
from understudy.platforms.vm.monitor import Gone, Monitor

WORDS_AT = 1024  # of ours, on the wire's first page
ANSWER_AT = 2048


class Conversation:
    """With a guest that is about to rest; `out` is what it left when it ended."""

    out: Mapping[str, bytes]

    def __init__(self, monitor: Monitor, path: Path, died: Callable[[Gone], RunFailed]) -> None:
        """`path`: its wire; `died` says what to raise if it has ended."""
        self._monitor = monitor
        self._died = died
        with path.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), wire.PAGE_BYTES)

    def wait(self) -> None:
        """Until it rests."""
        try:
            self._monitor.wait_until_stopped()
        except Gone as error:
            raise self._died(error) from error

    def say(self, words: struct.Struct, *values: int) -> None:
        """And let it go on."""
        words.pack_into(self._page, WORDS_AT, *values)
        self.go_on()

    def go_on(self) -> None:
        """Without a word."""
        try:
            self._monitor.do("cont")
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

    def heard(self, answer: struct.Struct) -> tuple[int, ...]:
        """What it has left there, while it rests."""
        return answer.unpack_from(self._page, ANSWER_AT)

    def close(self) -> None:
        """Forget the wire."""
        self._page.close()
