# SPDX-License-Identifier: MIT
"""Keeps an experiment: runs its command, and notes how it ended (experiments.py).

Usage: python -m understudy_devices.studio.keeper FOLDER WORD...

SIGTERM interrupts the command, as Ctrl-C does.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

MAIN = Path(__file__).parents[1] / "__main__.py"


def main() -> None:
    """Run the command."""
    own, words = Path(sys.argv[1]), sys.argv[2:]
    # The command inherits this, so that no signal reaches it before it waits for one.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    lock = (own / "lock").open("wb")
    fcntl.flock(lock, fcntl.LOCK_EX)
    with (own / "log").open("wb") as log:
        command = subprocess.Popen(
            [sys.executable, "-P", MAIN, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    signal.signal(signal.SIGTERM, lambda *_: command.send_signal(signal.SIGINT))
    _write(own / "keeper.json", {"process": os.getpid()})
    code = command.wait()
    _write(own / "outcome.json", {"exit": code, "ended_s": time.time()})


def _write(file: Path, value: object) -> None:
    temporary = file.with_suffix(".new")
    temporary.write_text(json.dumps(value))
    temporary.rename(file)


if __name__ == "__main__":
    main()
