# SPDX-License-Identifier: MIT
"""The cost of a request to libvesper, with its data and its interrupt."""

from bench import programs
from bench.part import Column, Rows

TITLE = "What a request to libvesper costs"
TEXT = """
A program reads and writes one to four blocks at random places of a disk of libvesper; the interrupt
handler issues the next request. The cost includes the model, the statistics, the data in memory and
the handler. Instructions are valgrind's count; the last two columns are user CPU time.

{{ library }}
"""
TABLES = {
    "library": (
        Column("profile", "{profile}"),
        Column("blocks", "{blocks:,}"),
        Column("instructions", "{instructions:,.0f}"),
        Column("CPU ns", "{cpu_ns:,.0f}"),
        Column("million requests a CPU second", "{millions:.1f}"),
    )
}
SIZES = {
    "full": {"requests": 5_000_000, "counted": 50_000},
    "quick": {"requests": 1_000_000, "counted": 20_000},
    "tiny": {"requests": 2_000, "counted": 200},
}
IN_VM = False
DISKS = (("vesper-zoned", 256), ("vesper-flat", 256), ("cheetah-15k4", 65_536))


def measure(requests: int, counted: int) -> Rows:
    """Measure each of the profiles, at the size at which courses use it."""
    sources = (f"vesper/{name}.c" for name in ("at_size", "profiles", "shares", "vesper"))
    program = programs.build("library", *sources)
    for profile, blocks in DISKS:
        cpu_ns = programs.printed(program, profile, blocks, requests)
        total = programs.instructions(program, "run", profile, blocks, counted)
        yield (
            "library",
            {
                "profile": profile,
                "blocks": blocks,
                "instructions": total / counted,
                "cpu_ns": cpu_ns,
                "millions": 1000 / cpu_ns,
            },
        )
