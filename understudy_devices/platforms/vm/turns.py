# SPDX-License-Identifier: MIT
"""The library that is loaded into QEMU for the virtual clock.

The library makes QEMU's threads run alternately, so that the guest can't see the host's timing
(host/qemu/turns.c, docs/decisions/0032-turns.md). When the guest asks the host a question, the
library stops the guest until the answer is there (host/qemu/questions.c).
"""

import os

from understudy_devices.ask.setting import Clock
from understudy_devices.base.programs import Program, compiled, content

TURNS = Program(
    "turns.so", ("host/qemu/turns.c", "host/qemu/questions.c"), flags=("-shared", "-fPIC")
)
VARIABLE = "LD_PRELOAD"


def identity(clock: Clock) -> bytes:
    """Return a digest of the library, on which a saved machine depends."""
    return content(TURNS).encode() if clock == "virtual" else b""


def words_before(clock: Clock) -> list[str]:
    """Return words to put before QEMU's command line, so that QEMU loads the library.

    QEMU's working folder changes, since LD_PRELOAD can't contain a path with a space or a colon.
    """
    if clock != "virtual":
        return []
    library = compiled(TURNS)
    others = os.environ.get(VARIABLE)
    loaded = f"./{library.name}" + (f":{others}" if others else "")
    return ["env", f"--chdir={library.parent}", f"{VARIABLE}={loaded}"]


def answering(questions: int) -> list[str]:
    """Return further words to put before QEMU's command line: the guest's questions use the socket
    with that descriptor.
    """
    return ["env", f"QUESTIONS={questions}"]
