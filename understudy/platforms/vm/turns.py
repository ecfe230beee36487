# SPDX-License-Identifier: MIT
"""What is loaded into QEMU for the virtual clock.

Its threads take turns, so that the host's timing can't be seen (host/qemu/turns.c,
docs/decisions/0032-turns.md), and a guest that asks waits for the answer (host/qemu/questions.c).
"""

import os

from understudy.ask.setting import Clock
from understudy.base.programs import Program, compiled, content

TURNS = Program(
    "turns.so", ("host/qemu/turns.c", "host/qemu/questions.c"), flags=("-shared", "-fPIC")
)
VARIABLE = "LD_PRELOAD"


def identity(clock: Clock) -> bytes:
    """What a machine that was saved depends on."""
    return content(TURNS).encode() if clock == "virtual" else b""


def words_before(clock: Clock) -> list[str]:
    """What to put before QEMU's command line.  QEMU's working folder changes: the variable
    takes no path with a space or a colon."""
    if clock != "virtual":
        return []
    library = compiled(TURNS)
    others = os.environ.get(VARIABLE)
    loaded = f"./{library.name}" + (f":{others}" if others else "")
    return ["env", f"--chdir={library.parent}", f"{VARIABLE}={loaded}"]


def answering(questions: int) -> list[str]:
    """More to put before it: what its guest asks comes over the socket of that number."""
    return ["env", f"QUESTIONS={questions}"]
