# SPDX-License-Identifier: MIT
"""The kernel's own checks of small pieces of memory, switched on in the referee's VM.

With them (SLUB's, Documentation/mm/slub.rst), kmalloc() puts a guard beside each piece, and fills a
piece that is freed with a pattern.  So a driver that writes past a piece, or uses or frees it after
it was freed, is named.
"""

import re
from collections.abc import Iterator

from understudy_devices.referee.events import Finding

ARGUMENTS = "slub_debug=FZPU,kmalloc-* log_buf_len=4M"
"""The kernel's arguments: check calls, guards and patterns; note who allocates and frees; keep the
first of many reports."""
CHECK = """for pieces in /sys/kernel/slab/kmalloc-*/validate; do
	echo 1 > $pieces
done"""
"""The guest's commands that look at all pieces now."""
FREED = "use after free"
PATTERN = re.compile(r"(?:6b){6}")
"""What a pointer is that was loaded from a piece after it was freed."""
RULES = {
    "Poison overwritten": FREED,
    "Redzone overwritten": "write past the end",
    "Object padding overwritten": "write past the end",
    "Object already free": "double free",
    "are to be freed": "double free",
}
MISTAKE = re.compile(rf"BUG (kmalloc\S+) .*({'|'.join(RULES)})")
WHO = re.compile(r"\b(Allocated|Freed) in (\w+)\S*( \[\w+\])?")


def misused(log: str) -> Iterator[Finding]:
    """Yield a finding for each mistake in the kernel's log that the kernel has named."""
    lines = log.splitlines()
    for number, line in enumerate(lines):
        if mistake := MISTAKE.search(line):
            cache, what = mistake.groups()
            yield Finding(RULES[what], 0, f"{cache}: {what}{_who(lines[number + 1 :])}")


def _who(lines: list[str]) -> str:
    """Return who has allocated and freed the piece that a report is about."""
    text = ""
    for line in lines:
        if MISTAKE.search(line) or "Object 0x" in line:
            break
        if who := WHO.search(line):
            what, function, module = who.groups()
            text += f", {what.lower()} in {function}{module or ''}"
    return text
