# SPDX-License-Identifier: MIT
"""The library that is loaded into QEMU for the virtual clock.

It makes QEMU's threads take turns, so that the host's timing is invisible (host/qemu/turns.c,
docs/decisions/0032-turns.md), and a guest that asks waits for its answer (host/qemu/questions.c).
"""

import os

from understudy.ask.setting import Clock
from understudy.base.programs import Program, compiled, content

TURNS = Program(
    "turns.so", ("host/qemu/turns.c", "host/qemu/questions.c"), flags=("-shared", "-fPIC")
)
VARIABLE = "LD_PRELOAD"


def identity(clock: Clock) -> bytes:
    """What a saved machine depends on."""
    return content(TURNS).encode() if clock == "virtual" else b""


def words_before(clock: Clock) -> list[str]:
    """Words to put before QEMU's command line.

    QEMU's working folder changes, since the variable takes no path with a space or a colon.
    """
    if clock != "virtual":
        return []
    library = compiled(TURNS)
    others = os.environ.get(VARIABLE)
    loaded = f"./{library.name}" + (f":{others}" if others else "")
    return ["env", f"--chdir={library.parent}", f"{VARIABLE}={loaded}"]


def answering(questions: int) -> list[str]:
    """More words to put before it: the guest's questions come over the socket of that number."""
    return ["env", f"QUESTIONS={questions}"]
