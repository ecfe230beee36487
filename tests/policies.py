# SPDX-License-Identifier: MIT
"""Policies of the page cache as strangers might write them: `fixed` and `lru` with one change."""

from pathlib import Path

from places import CHECKOUT

from understudy_devices.native import registry

Change = tuple[str, str]

FIXED = (CHECKOUT / "core" / "prefetch" / "fixed.c").read_text()
LRU = (CHECKOUT / "core" / "replacement" / "lru.c").read_text()
READ = "\tstruct page_range range = { 0 };\n\n"
VICTIM = "\tstruct lru *lru = state;\n\n\treturn page_list_take"


def prefetcher(folder: Path, name: str, *changes: Change) -> registry.Source:
    """Write NAME.c: `fixed` under that name, with the changes."""
    return _written(folder, FIXED, "fixed", name, registry.PREFETCH, changes)


def replacer(folder: Path, name: str, *changes: Change) -> registry.Source:
    """Write NAME.c: `lru` under that name, with the changes."""
    return _written(folder, LRU, "lru", name, registry.REPLACEMENT, changes)


def at_read(code: str) -> Change:
    """Run `code` when the prefetcher is asked about a `read`."""
    return READ, f"{READ}\t{code}\n"


def at_victim(code: str) -> Change:
    """Run `code` when the policy is asked for a slot."""
    return VICTIM, VICTIM.replace("\n\n", f"\n\t{code}\n\n")


def including(*headers: str) -> Change:
    """Include headers of libc."""
    line = "/*\n"
    return line, "".join(f"#include <{header}>\n" for header in headers) + line


def _written(
    folder: Path, text: str, of: str, name: str, kind: str, changes: tuple[Change, ...]
) -> registry.Source:
    text = text.replace(f'.name = "{of}"', f'.name = "{name}"')
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    file = folder / f"{name}.c"
    file.write_text(text)
    return registry.Source(str(file), text.encode(), folder=kind)
