# SPDX-License-Identifier: MIT
"""Libvesper as one file: core/drive and vesper/ in a single C file that needs only vesper.h.

The file is for a course's own tree, whatever the build there.  Its only global names are those of
vesper.h and names that begin with vesper_: all others get that prefix, and static functions that
have the same name in several files get the file's name as a suffix.  The text is otherwise that of
the sources.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PROFILES = Path("vesper/profiles.c")
PUBLIC = ("vesper.h", "vesper_file.h", "vesper_wall.h", "vesper_figure2.h")  # in vesper/
HEAD = """\
/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libvesper in one file: a simulated disk with the timing of a real one. Compile it as C11 with
 * GCC or Clang; vesper.h belongs beside it. It needs no libc; on a 32-bit machine it needs the
 * compiler's own library (libgcc), for divisions of 64 bits. Made by the project Understudy
 * (`understudy vesper`) from its core/ and vesper/; the sources there are the ones to edit.
 */
#define PORT_ALONE
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
"""

INCLUDE = re.compile(r'^#include "([^"]+)"\n', re.M)
FUNCTION = re.compile(
    r"^(static )?(?:inline |const |struct |__attribute__\(\(\w+\)\) )*"
    r"\w+[ *\n]+(?!__)(\w+)\([^;]*?\)\n\{",
    re.M,
)
PREFIX = "vesper_"
VARIABLE = re.compile(r"^const (?:struct )?\w+ (\w+)(?:\[\])? = ", re.M)
MACRO = re.compile(r"^#define (\w+)", re.M)


def sources(root: Path) -> list[Path]:
    """Return the files that are compiled, without the profiles."""
    drive = sorted((root / "core/drive").glob("*.c"))
    own = [root / "vesper" / name for name in ("at_size.c", "shares.c", "vesper.c")]
    return [root / "core/draw.c", *drive, *own]


def one_file(root: Path, profiles: str | None = None) -> str:
    """Return the library as one C file; `profiles` is the text of another profiles.c."""
    included: set[Path] = set()
    files = sources(root)
    parts = [(file.stem, "".join(_expanded(file, included))) for file in files]
    if profiles is None:
        profiles = (root / PROFILES).read_text(encoding="utf-8")
    parts.append(("profiles", profiles.replace('#include "vesper.h"\n', "")))
    twice = _twice(files)
    whole = HEAD + "".join(f"\n{_without_clashes(stem, text, twice)}" for stem, text in parts)
    return _prefixed(whole, files)


def _expanded(file: Path, included: set[Path]) -> Iterator[str]:
    """Yield a file's text with the files that it includes, each once, except for vesper.h."""
    text = file.read_text(encoding="utf-8")
    at = 0
    for match in INCLUDE.finditer(text):
        yield text[at : match.start()]
        at = match.end()
        path = (file.parent / match[1]).resolve()
        if path in included:
            continue
        included.add(path)
        if path.name in PUBLIC:
            yield match[0]
        else:
            yield from _expanded(path, included)
    yield text[at:]


def _twice(files: list[Path]) -> set[str]:
    """Return the names of static functions that several files have."""
    texts = [file.read_text(encoding="utf-8") for file in files]
    counts = Counter(match[2] for text in texts for match in FUNCTION.finditer(text) if match[1])
    return {name for name, count in counts.items() if count > 1}


def _without_clashes(stem: str, text: str, twice: set[str]) -> str:
    """Return one file's text without names that clash with those of other files."""
    own = {match[2] for match in FUNCTION.finditer(text) if match[1]} & twice
    for name in sorted(own):
        text = _renamed(text, name, f"{name}_in_{stem}")
    ends = [f"#undef {name}\n" for name in MACRO.findall(text) if not name.startswith("UNDERSTUDY")]
    return text + "".join(ends if stem == "settings" else [])


def _prefixed(text: str, files: list[Path]) -> str:
    """Return the text with a prefix before each global name."""
    for file in files:
        source = file.read_text(encoding="utf-8")
        for match in FUNCTION.finditer(source):
            if not match[1] and not match[2].startswith(PREFIX):
                text = _renamed(text, match[2], PREFIX + match[2], called=True)
        for name in VARIABLE.findall(source):
            text = _renamed(text, name, PREFIX + name)
    return text


def _renamed(text: str, name: str, to: str, *, called: bool = False) -> str:
    """Return the text with another name, where it isn't a member, or only where it is `called`."""
    end = r"(?=\()" if called else r"\b"
    return re.sub(rf"(?<![\w.>]){name}{end}", to, text)
