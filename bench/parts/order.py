# SPDX-License-Identifier: MIT
"""The cost of finding the optimal order, with our method and with the papers' table."""

from bench import programs
from bench.part import Column, Rows

TITLE = "What the optimal order costs"
TEXT = """
Two algorithms find the order of requests with the least sum of response times:
`core/optimal_order.h` in linear time, and the papers' table of n^2 states
(`tests/core/order_table.h`). The requests and the head are at random locations on the papers' disk;
the figures are means over several sets of locations. Instructions are valgrind's count, and
nanoseconds are user CPU time.

{{ order }}
"""
TABLES = {
    "order": (
        Column("points", "{points:,}"),
        Column("instructions", "{instructions:,.0f}"),
        Column("CPU ns", "{cpu_ns:,.0f}"),
        Column("by the table: instructions", "{table_instructions:,.0f}"),
        Column("CPU ns", "{table_cpu_ns:,.0f}"),
        Column("instructions, table / ours", "{ratio:,.1f}"),
    )
}
SIZES = {
    "full": {"points": [8, 64, 256, 1024], "sets": 20},
    "quick": {"points": [8, 64, 256, 1024], "sets": 5},
    "tiny": {"points": [8], "sets": 1},
}
IN_VM = False
HEADS = 20  # the same number as in order.c


def measure(points: list[int], sets: int) -> Rows:
    """Yield a row for each number of points."""
    program = programs.build("order", "tests/core/order_table.c")
    for number in points:
        ours = programs.instructions(program, "find_once", "turns", number, sets)
        table = programs.instructions(program, "find_once", "table", number, sets)
        yield (
            "order",
            {
                "points": number,
                "instructions": ours / sets / HEADS,
                "cpu_ns": programs.printed(program, "turns", number, sets),
                "table_instructions": table / sets / HEADS,
                "table_cpu_ns": programs.printed(program, "table", number, sets),
                "ratio": table / ours,
            },
        )
