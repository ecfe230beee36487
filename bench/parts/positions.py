# SPDX-License-Identifier: MIT
"""What it costs to know where each sector is, beside drawing latencies."""

from bench import programs
from bench.part import Column, Rows

TITLE = "What known positions cost"
TEXT = """
Instructions a request in the simulator, valgrind's count: eight processes read and write 4 KiB at
random and don't think, on a disk of 16 zones whose seeks have 400 samples, fcfs. Its latencies
are drawn, or it is known when each sector is under the head (`core/platter.c`). The buffer does
all that buffers do: it reads ahead into 16 segments, and 16 writes may wait for the medium, of
which the one goes first that is soonest under the head. With writes the buffer is always full
here, and each write that is put away is chosen among fifteen or so.

{{ cost }}
"""
TABLES = {
    "cost": (
        Column("disk", "{name}"),
        Column("writes (%)", "{writes}"),
        Column("drawn", "{drawn:,.0f}"),
        Column("known", "{known:,.0f}"),
    )
}
SIZES = {
    "full": {"requests": 100_000},
    "quick": {"requests": 25_000},
    "tiny": {"requests": 200},
}
IN_VM = False
DISKS = (("no buffer", 0), ("with a buffer", 1))
WRITES = (0, 10, 30)


def measure(requests: int) -> Rows:
    """A row for each disk and share of writes."""
    program = programs.build("positions")
    for name, buffered in DISKS:
        for writes in WRITES:
            found = {
                phase: programs.instructions(program, "run", phase, buffered, writes, requests)
                for phase in ("drawn", "known")
            }
            each = {phase: count / requests for phase, count in found.items()}
            yield "cost", {"name": name, "writes": writes, **each}
