# SPDX-License-Identifier: MIT
"""The cost of simulating each sector's position instead of random latencies, and the cost of
choosing requests by position.
"""

from pathlib import Path

from bench import programs
from bench.part import Column, Rows

TITLE = "What known positions cost"
TEXT = """
The figures are instructions per request in the simulator, counted by valgrind. Eight processes
without think time read and write 4 KiB at random, with fcfs, on a disk of 16 zones. In *drawn* each
latency is a random number; in *known* the model computes the angle of each sector (`platter.c`); in
*400 slips* the disk also has 400 slips. The seek curve has 400 samples. The buffer prefetches into
16 segments and holds up to 16 writes; it destages the write that is soonest under the head. In the
runs with writes, the buffer is always full, and the drive chooses each destage among about fifteen
writes.

{{ cost }}

The next table has known angles and 40 processes. The drive accepts one command at a time, or
chooses among 4 or 32 commands (`command_queue.c`). Next to each number of instructions is the user
CPU time in ns. In a kernel, the code in `core/` costs the same.

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
            counts = {
                phase: programs.instructions(
                    program, "run", phase, buffered, writes, 8, 1, requests
                )
                for phase in ("drawn", "known", "slipped")
            }
            each = {phase: count / requests for phase, count in counts.items()}
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
        arguments = ("known", buffered, writes, 40, depth, requests)
        row[f"q{depth}"] = programs.instructions(program, "run", *arguments) / requests
        row[f"q{depth}_ns"] = min(programs.printed(program, *arguments) for _ in range(TRIES))
    return row
