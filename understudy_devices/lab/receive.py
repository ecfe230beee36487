# SPDX-License-Identifier: MIT
"""Receives one submission from a guest: QEMU starts this in the team's folder, as the user that
QEMU runs as, and connects its standard input and output with the guest.

A guest may connect as often as it likes.  So all but one are refused before this loads anything
large or reads, and that one has little time for its first line.
"""

import fcntl
import os
import signal
import sys
from contextlib import suppress

FOLDER = "submissions"
LINE_BYTES_MAX = 200
LINE_SECONDS_MAX = 10
SECONDS_MAX = 300


def main() -> None:
    """Answer with one line: what was received, or why nothing was kept."""
    try:
        answer = _receive_alone()
    except BlockingIOError:
        answer = "refused: another submission is being received: submit again"
    except OSError as error:
        answer = f"refused: {error.strerror or error}"
    sys.stdout.write(f"{answer}\n")
    sys.stdout.flush()


def _receive_alone() -> str:
    """Receive while the team's folder of submissions is locked; BlockingIOError if it is."""
    with suppress(FileExistsError):
        os.mkdir(FOLDER, 0o700)  # noqa: PTH102 - pathlib takes time to load
    place = os.open(FOLDER, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)  # until this process ends
    signal.alarm(LINE_SECONDS_MAX)
    line = sys.stdin.buffer.readline(LINE_BYTES_MAX)
    signal.alarm(SECONDS_MAX)
    return _receive(line)


def _receive(line: bytes) -> str:
    import time
    from pathlib import Path

    from understudy_devices.base.errors import RunFailed
    from understudy_devices.base.plain import one_line
    from understudy_devices.lab import submissions

    try:
        return submissions.receive(Path(FOLDER), line, sys.stdin.buffer, time.time())
    except (RunFailed, OSError) as error:
        return f"refused: {one_line(str(error))}"


if __name__ == "__main__":
    main()
