# SPDX-License-Identifier: MIT
"""The cost of a dispatch with 50 reads pending, including the host and the modelled disk."""

from bench import programs
from bench.part import Column, Rows
from understudy_devices.ask import schedulers as catalogue

TITLE = "What a scheduler costs"
TEXT = """
The table has the cost of a dispatch in user space, including the modelled disk and the program that
calls the scheduler. 50 owners read 8 sectors at random, with no think time or with 3 ms. Under this
load CATS sweeps all the time; in the row without READDELAY it uses its table. Instructions are
valgrind's count; the last column is user CPU time.

{{ dispatch }}
"""
TABLES = {
    "dispatch": (
        Column("scheduler", "{name}"),
        Column("think (ms)", "{think_ms}"),
        Column("instructions", "{instructions:,.0f}"),
        Column("of fcfs", "{of_fcfs:.2f}"),
        Column("CPU ns", "{cpu_ns:,.0f}"),
    )
}
SIZES = {
    "full": {"schedulers": ["all"], "dispatches": 1_000_000, "counted": 20_000},
    "quick": {"schedulers": ["all"], "dispatches": 200_000, "counted": 5_000},
    "tiny": {"schedulers": ["cats"], "dispatches": 1_000, "counted": 100},
}
IN_VM = False
OWNERS = 50
THINKS_MS = (0, 3)
NEVER = ("read_delay_ns", 3_600_000_000_000)


def measure(schedulers: list[str], dispatches: int, counted: int) -> Rows:
    """Measure each scheduler; fcfs must be the first, since the others are compared with it."""
    program = programs.build("dispatch")
    runs: dict[str, tuple[object, ...]] = dict.fromkeys(
        ["fcfs", *catalogue.parse(",".join(schedulers))], ()
    )
    runs["cats, no READDELAY"] = NEVER
    fcfs: dict[int, float] = {}
    for name, tunable in runs.items():
        for think_ms in THINKS_MS:
            rest = (think_ms * 10**6, *tunable)
            scheduler = name.partition(",")[0]
            total = programs.instructions(program, "run", scheduler, OWNERS, counted, *rest)
            cost = total / counted
            yield (
                "dispatch",
                {
                    "name": name,
                    "think_ms": think_ms,
                    "instructions": cost,
                    "of_fcfs": cost / fcfs.setdefault(think_ms, cost),
                    "cpu_ns": programs.printed(program, scheduler, OWNERS, dispatches, *rest),
                },
            )
