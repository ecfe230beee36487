# SPDX-License-Identifier: MIT
"""The cost of simulating each sector's position instead of random latencies, and the cost of
choosing requests by position.
"""

from pathlib import Path

from bench import programs
from bench.part import Column, Rows

TITLE = "What known positions cost"
TEXT = """
Instructions per request in the simulator, valgrind's count: eight processes read and write 4 KiB at
random and don't think, with fcfs, on a disk of 16 zones whose seek curve has 400 samples. Either
its latencies are drawn, or the time when each sector is under the head is known (`platter.c`). The
buffer has all features: it prefetches into 16 segments, and holds up to 16 writes, of which it
destages the one that is soonest under the head. With writes the buffer is always full here, and
each destage is chosen among fifteen or so.

{{ cost }}

The same with known positions and 40 processes, on a drive that takes one command after the other or
chooses among 4 or 32 of them (`command_queue.c`). Beside the instructions is user CPU time in ns.
The kernel's part of the cost is that of `core/`, which is the same there.

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
    """Yield a row of each table for each disk and share of writes."""
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
