# SPDX-License-Identifier: MIT
"""Schedulers that strangers might write: fcfs, with one thing done otherwise."""

from pathlib import Path

from understudy.base.paths import ROOT

FCFS = (ROOT / "core" / "schedulers" / "fcfs.c").read_text()
TAKES = "\tif (rq)\n\t\tfifo_remove(&fcfs->pending, rq);\n\treturn rq;"


def scheduler(name: str, *changes: tuple[str, str]) -> str:
    """The source of fcfs under another name, with each first text made the second."""
    source = FCFS
    for old, new in (
        ('.name = "fcfs"', f'.name = "{name}"'),
        ('#include "../fifo.h"', '#include <stdio.h>\n#include <stdlib.h>\n#include "../fifo.h"'),
        *changes,
    ):
        assert old in source, old
        source = source.replace(old, new, 1)
    return source


def write(folder: Path, name: str, *changes: tuple[str, str]) -> Path:
    """The same as a file NAME.c."""
    file = folder / f"{name}.c"
    file.write_text(scheduler(name, *changes))
    return file


def at_add(code: str) -> tuple[str, str]:
    """Do that whenever a request is added."""
    return "\tfifo_add(&fcfs->pending, rq);", f"\t{code}\n\tfifo_add(&fcfs->pending, rq);"


def at_next(code: str) -> tuple[str, str]:
    """Do that instead of giving the oldest request, `rq`."""
    return TAKES, f"\t{code}"


def with_operation(name: str, head: str, code: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """An init or an exit that does that."""
    function = f"static {head}\n{{\n\t{code}\n}}\n\n"
    declared = "static const struct scheduler fcfs_scheduler = {\n"
    return (
        (declared, function + declared),
        (".add = fcfs_add,", f".{name} = fcfs_{name},\n\t.add = fcfs_add,"),
    )


def at_init(code: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """Do that in init."""
    head = "int fcfs_init(void *state, const struct sched_limits *limits)"
    return with_operation("init", head, code)


def at_exit(code: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """Do that in exit."""
    return with_operation("exit", "void fcfs_exit(void *state)", code)


def at_load(code: str) -> tuple[str, str]:
    """Do that before anybody calls anything."""
    return (
        "struct fcfs {",
        f"__attribute__((constructor)) static void load(void)\n{{\n\t{code}\n}}\n\nstruct fcfs {{",
    )
