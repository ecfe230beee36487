# SPDX-License-Identifier: MIT
"""The programs that run in the guest, static."""

from understudy.base.programs import Program

ANY_HEADERS = ("guest/complain.h", "guest/options.h")
READS = ("guest/reads.c", "core/draw.c")
READS_HEADERS = (*ANY_HEADERS, "guest/call.h", "guest/reads.h", "core/draw.h", "core/port.h")
DISK_HEADERS = ("guest/disk_size.h",)

GUEST_PROGRAMS = (
    Program(
        "surge",
        ("guest/surge.c", *READS),
        (*READS_HEADERS, "guest/file_path.h", "core/surge.h"),
    ),
    Program("random", ("guest/random.c", *READS), (*READS_HEADERS, *DISK_HEADERS)),
    Program("restore", ("guest/restore.c",), (*ANY_HEADERS, *DISK_HEADERS)),
    Program("wire", ("guest/wire.c",), (*ANY_HEADERS, "guest/wire.h")),
    Program("drain", ("guest/drain.c",), ANY_HEADERS),
    Program("port", ("guest/port.c",), ANY_HEADERS),
)
SERVE = Program("serve", ("guest/serve.c",), (*ANY_HEADERS, "guest/wire.h"))
"""Comes with the runs that need it."""

BLOCKTRACE = Program("blocktrace", ("guest/blocktrace.c",), ANY_HEADERS)
"""The same."""

BY_NAME = {program.name: program for program in (*GUEST_PROGRAMS, SERVE, BLOCKTRACE)}
