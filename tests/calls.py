# SPDX-License-Identifier: MIT
"""A Python process in a home of its own calls a function of the package, and is interrupted."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from terminal import Home, wait_until_stopped

PROGRAM = """
import time
import understudy_devices as us
print("begins", flush=True)
try:
    try:
        {call}
        print("ended", flush=True)
    except KeyboardInterrupt:
        time.sleep(0.1)
except BaseException as error:
    # A second one, as Polars raises its own and Python follows; or Polars' panic in place of it,
    # if the signal came while Polars was imported.
    if "KeyboardInterrupt" not in repr(error):
        raise
print("interrupted", flush=True)
"""

# Python prints this when the signal came while a callback of its own ran: it goes on, and the
# user has to interrupt again.
IGNORED = "Exception ignored in"


def interrupted(home: Home, call: str, after: str, seconds: float) -> list[str]:
    """Interrupt a call as a notebook does, some seconds after the output contains `after`; return
    the lines that it prints, and check that it ends in time and leaves nothing."""
    there = {*home.left_overs()}
    messages = home.work / "messages"
    with (
        messages.open("w") as stderr,
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM.format(call=call)],
            cwd=home.work,
            env=home.environment(),
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout
            lines = []
            for line in process.stdout:
                lines.append(line.rstrip())
                if after in line:
                    break
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
            ignored = 0

            def has_ended() -> bool:
                nonlocal ignored
                if _ends_soon(process):
                    return True
                if messages.read_text().count(IGNORED) > ignored:
                    ignored += 1
                    process.send_signal(signal.SIGINT)
                return False

            wait_until_stopped(has_ended, lambda: "".join(lines) + messages.read_text())
            rest = process.stdout.read()
        finally:
            process.kill()
    said = messages.read_text()
    # Python itself ends by SIGINT if the signal came while exec() ran code, as dataclasses do.
    assert process.returncode in (0, -signal.SIGINT), f"{lines} {rest} {said}"
    assert not home.processes()
    messages.unlink()
    left = {*home.left_overs()} - there
    assert not left, f"{left} {rest} {said}"
    return [*lines, *rest.splitlines()]


def _ends_soon(process: subprocess.Popen[str]) -> bool:
    try:
        process.wait(0.02)
    except subprocess.TimeoutExpired:
        return False
    return True


def home_in(folder: Path) -> Home:
    """Return a home with everything that this machine has made before."""
    return Home(folder).with_what_is_made()
