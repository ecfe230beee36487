# SPDX-License-Identifier: MIT
"""The programs that run in the guest, static."""

from understudy.base.programs import Program

READS = ("guest/reads.c", "core/draw.c")
SURGE_HEADERS = ("guest/file_path.h", "core/surge.h")
READS_HEADERS = ("guest/reads.h", "guest/options.h", "core/draw.h", "core/port.h")

GUEST_PROGRAMS = (
    Program("surge", ("guest/surge.c", *READS), (*READS_HEADERS, *SURGE_HEADERS)),
    Program("random", ("guest/random.c", *READS), READS_HEADERS),
    Program("restore", ("guest/restore.c",), ("guest/options.h",)),
    Program("port", ("guest/port.c",), ("guest/options.h",)),
)
BY_NAME = {program.name: program for program in GUEST_PROGRAMS}
