# SPDX-License-Identifier: MIT
"""A program that sends requests to a disk, none before its planned time, and reports when each
request was sent and completed.

The program is a separate process because nothing can end a process that waits for a disk that never
answers; the parent process can then give up.  The program inherits the descriptor of the open disk,
and imports nothing from the package.  Times are from CLOCK_MONOTONIC_RAW, which nobody sets or
slews.
"""

import gc
import mmap
import os
import random
import signal
import struct
import sys
import time
from contextlib import suppress

ASK = struct.Struct("<?qqq")  # write it? offset, bytes, not before (ns)
ANSWER = struct.Struct("<iqqqq")  # errno, bytes done, sent, completed (ns), bytes of the disk
SPIN_NS = 300_000  # largest delay at the end of a sleep
PATTERN_BYTES = 2**20


def now_ns() -> int:
    """Return the time on the clock of this program, ns."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


class Buffers:
    """A buffer for reads and a buffer for writes, with all pages already allocated."""

    def __init__(self) -> None:
        self._read = memoryview(b"")
        self._write = memoryview(b"")

    def of(self, write: bool, size: int) -> memoryview:
        """Return a buffer of `size` bytes; data for writes are random, so that no disk can skip
        them.
        """
        if write:
            if len(self._write) < size:
                self._write = _pages(size)
                pattern = random.Random(0).randbytes(PATTERN_BYTES)
                for begin in range(0, len(self._write), PATTERN_BYTES):
                    part = self._write[begin : begin + PATTERN_BYTES]
                    part[:] = pattern[: len(part)]
            return self._write[:size]
        if len(self._read) < size:
            self._read = _pages(size)
        return self._read[:size]


def _pages(size: int) -> memoryview:
    room = max(mmap.PAGESIZE, 1 << (size - 1).bit_length())
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE
    return memoryview(mmap.mmap(-1, room, flags=flags))


def wait_until(ns: int) -> None:
    """Sleep until shortly before the time, then spin, to be accurate to a microsecond."""
    left_ns = ns - now_ns()
    if left_ns > SPIN_NS:
        time.sleep((left_ns - SPIN_NS) / 1e9)
    while now_ns() < ns:
        pass


def serve(disk: int, buffers: Buffers, ask: bytes) -> bytes:
    """Serve one request."""
    write, offset, size, at_ns = ASK.unpack(ask)
    buffer = [buffers.of(write, size)]
    move = os.pwritev if write else os.preadv
    error = done = 0
    wait_until(at_ns)
    sent_ns = now_ns()
    try:
        done = move(disk, buffer, offset)
    except OSError as failed:
        error = failed.errno or -1
    completed_ns = now_ns()
    return ANSWER.pack(error, done, sent_ns, completed_ns, _size(disk))


def _size(disk: int) -> int:
    """Return the disk's size in bytes; 0 if the disk was removed."""
    try:
        return os.lseek(disk, 0, os.SEEK_END)
    except OSError:
        return 0


def be_on_time() -> None:
    """Avoid delays by garbage collection and, as root, by other processes."""
    gc.disable()
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def main() -> None:
    """Serve requests from standard input until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    be_on_time()
    disk, buffers = int(sys.argv[1]), Buffers()
    with suppress(BrokenPipeError):
        while len(ask := os.read(0, ASK.size)) == ASK.size:
            os.write(1, serve(disk, buffers, ask))


if __name__ == "__main__":
    main()
