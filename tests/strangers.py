# SPDX-License-Identifier: MIT
"""Schedulers as strangers might write them: fcfs with one change."""

from pathlib import Path

from places import CHECKOUT

Change = tuple[str, str]

FCFS = (CHECKOUT / "core" / "schedulers" / "fcfs.c").read_text()
INCLUDED = '#include "../fifo.h"\n'
GIVES = "\tif (rq)\n\t\tfifo_remove(&fcfs->pending, rq);\n"
DECLARED = "static const struct scheduler fcfs_scheduler = {\n"


def write(folder: Path, name: str, *changes: Change) -> Path:
    """Write NAME.c: fcfs under that name, with the first text of each change replaced by the
    second.
    """
    source = FCFS.replace('.name = "fcfs"', f'.name = "{name}"')
    for old, new in changes:
        assert old in source, old
        source = source.replace(old, new, 1)
    file = folder / f"{name}.c"
    file.write_text(source, errors="surrogateescape")
    return file


def including(*headers: str) -> Change:
    """Include headers of libc."""
    return INCLUDED, "".join(f"#include <{header}>\n" for header in headers) + INCLUDED


def at_add(code: str) -> Change:
    """Run `code` before a request `rq` is added."""
    return "\tfifo_add(&fcfs->pending, rq);", f"\t{code}\n\tfifo_add(&fcfs->pending, rq);"


def at_next(code: str) -> Change:
    """Run `code` before the oldest request `rq` is dispatched."""
    return GIVES, f"\t{code}\n{GIVES}"


def at_init(code: str) -> Change:
    """Add an init function that runs `code`."""
    return _operation("init", "int fcfs_init(void *state, const struct sched_limits *limits)", code)


def at_exit(code: str) -> Change:
    """Add an exit function that runs `code`."""
    return _operation("exit", "void fcfs_exit(void *state)", code)


def _operation(name: str, head: str, code: str) -> Change:
    function = f"static {head}\n{{\n\t{code}\n}}\n\n"
    return DECLARED, f"{function}{DECLARED}\t.{name} = fcfs_{name},\n"


def at_load(code: str) -> Change:
    """Run `code` when the scheduler is loaded, before any of its functions is called."""
    constructor = f"__attribute__((constructor)) static void load(void)\n{{\n\t{code}\n}}\n\n"
    return DECLARED, constructor + DECLARED
