# SPDX-License-Identifier: MIT
"""What it costs to know where each sector is, beside drawing latencies, and to choose by it."""

from pathlib import Path

from bench import programs
from bench.part import Column, Rows

TITLE = "What known positions cost"
TEXT = """
Instructions a request in the simulator, valgrind's count: eight processes read and write 4 KiB at
random and don't think, on a disk of 16 zones whose seeks have 400 samples, fcfs. Its latencies
are drawn, or it is known when each sector is under the head (`platter.c`). The buffer does
all that buffers do: it reads ahead into 16 segments, and 16 writes may wait for the medium, of
which the one goes first that is soonest under the head. With writes the buffer is always full
here, and each write that is put away is chosen among fifteen or so.

{{ cost }}

The same where positions are known, with 40 processes, and a drive that takes one command after the
other or chooses among 4 or 32 of them (`command_queue.c`); beside the instructions, user CPU
time in ns. The kernel's part of it is what `core/` does, which is the same there.

{{ queue }}
"""
TABLES = {
    "cost": (
        Column("disk", "{name}"),
        Column("writes (%)", "{writes}"),
        Column("drawn", "{drawn:,.0f}"),
        Column("known", "{known:,.0f}"),
        Column("400 slips", "{slipped:,.0f}"),
    ),
    "queue": (
        Column("disk", "{name}"),
        Column("writes (%)", "{writes}"),
        Column("one", "{q1:,.0f}"),
        Column("CPU ns", "{q1_ns:,.0f}"),
        Column("among 4", "{q4:,.0f}"),
        Column("CPU ns", "{q4_ns:,.0f}"),
        Column("among 32", "{q32:,.0f}"),
        Column("CPU ns", "{q32_ns:,.0f}"),
    ),
}
SIZES = {
    "full": {"requests": 100_000},
    "quick": {"requests": 25_000},
    "tiny": {"requests": 200},
}
IN_VM = False
DISKS = (("no buffer", 0), ("with a buffer", 1))
WRITES = (0, 10, 30)
DEPTHS = (1, 4, 32)
TRIES = 5


def measure(requests: int) -> Rows:
    """A row for each disk and share of writes, of both tables."""
    program = programs.build("positions")
    for name, buffered in DISKS:
        for writes in WRITES:
            found = {
                phase: programs.instructions(
                    program, "run", phase, buffered, writes, 8, 1, requests
                )
                for phase in ("drawn", "known", "slipped")
            }
            each = {phase: count / requests for phase, count in found.items()}
            yield "cost", {"name": name, "writes": writes, **each}
            yield (
                "queue",
                {
                    "name": name,
                    "writes": writes,
                    **_queued(program, buffered, writes, requests),
                },
            )


def _queued(program: Path, buffered: int, writes: int, requests: int) -> dict[str, float]:
    row: dict[str, float] = {}
    for depth in DEPTHS:
        asked = ("known", buffered, writes, 40, depth, requests)
        row[f"q{depth}"] = programs.instructions(program, "run", *asked) / requests
        row[f"q{depth}_ns"] = min(programs.printed(program, *asked) for _ in range(TRIES))
    return row
