# SPDX-License-Identifier: MIT
"""registry.py KIND OUTPUT SOURCE...: write a C file with the list of what the sources register.

KIND is `workload`, `scheduler`, `prefetcher` or `replacer`.  A source registers with
REGISTER_KIND(NAME), on a line of its own.  A list works with each compiler and each format of
programs, also with Mach-O, which has no linker sections with a begin and an end.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

TEXT = """\
#include "sim/registry.h"

{declarations}

static const struct {kind} *const *const list[] = {{
{entries}
}};

u32 {kind}_count(void)
{{
	return sizeof(list) / sizeof(*list);
}}

const struct {kind} *{kind}_get(u32 index)
{{
	return *list[index];
}}
"""


def text(kind: str, sources: Sequence[Path]) -> str:
    """Return the C file; raise SystemExit if a source registers nothing."""
    pattern = re.compile(rf"^REGISTER_{kind.upper()}\((\w+)\);", re.MULTILINE)
    names = []
    for source in sources:
        registered = pattern.findall(source.read_text(encoding="utf-8"))
        if not registered:
            raise SystemExit(f"{source}: no line REGISTER_{kind.upper()}(NAME);")
        names += [f"{kind}_{name}" for name in registered]
    declarations = "\n".join(f"extern const struct {kind} *const {name};" for name in names)
    entries = "\n".join(f"\t&{name}," for name in names)
    return TEXT.format(kind=kind, declarations=declarations, entries=entries)


if __name__ == "__main__":
    kind, output, *sources = sys.argv[1:]
    Path(output).write_text(text(kind, [Path(source) for source in sources]), encoding="utf-8")
