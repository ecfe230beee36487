# SPDX-License-Identifier: MIT
"""Receives one submission from a guest: QEMU starts this in the team's folder, as the user that
QEMU runs as, and connects its standard input and output with the guest.
"""

import signal
import sys
import time
from pathlib import Path

from understudy_devices.base.errors import RunFailed
from understudy_devices.base.plain import one_line
from understudy_devices.lab import submissions

SECONDS_MAX = 300


def main() -> None:
    """Answer with one line: what was received, or why nothing was kept."""
    signal.alarm(SECONDS_MAX)
    try:
        answer = submissions.receive(Path(), sys.stdin.buffer, time.time())
    except (RunFailed, OSError) as error:
        answer = f"refused: {one_line(str(error))}"
    sys.stdout.write(f"{answer}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
