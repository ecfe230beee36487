# SPDX-License-Identifier: MIT
"""Compiles a SystemRDL file with systemrdl-compiler; reports errors as for any other card."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from systemrdl.compiler import RDLCompiler
from systemrdl.messages import MessagePrinter, RDLCompileError, Severity
from systemrdl.node import AddrmapNode, Node
from systemrdl.source_ref import FileSourceRef, SourceRefBase

from understudy_devices.base.errors import UserError
from understudy_devices.cards.document import BYTES_MAX, controls
from understudy_devices.cards.wrong import WrongCard

PERL = "<%"
INCLUDED = re.compile(r'`include\s+("([^\r\n]+)"|<([^\r\n]+)>)')  # as the compiler reads it
FILES_MAX = 1000
DECLARED = ": if another file declares it, name that file with --include"
ADVICE = {  # by the beginning of the compiler's message
    "Unrecognized property": DECLARED,
    "Type '.*' is not defined": DECLARED,
    "Could not find any 'addrmap'": ": import the file that has the addrmap, which uses this one",
}


def compiled(file: Path, before: Sequence[Path] = ()) -> AddrmapNode:
    """Return a file's last addrmap; UserError if it can't be read, WrongCard if it has no card.

    The files `before` are read first: they declare what the file uses.
    """
    _refuse_foreign((*before, file))
    printer = _Told(file)
    compiler = RDLCompiler(message_printer=printer, dedent_desc=False, perl_safe_opcodes=[])
    try:
        for each in (*before, file):
            compiler.compile_file(str(each))
        return compiler.elaborate().top
    except RDLCompileError as error:
        raise WrongCard(str(file), printer.errors or [(1, str(error))]) from error
    except Exception as error:  # the compiler's parser crashes on some bad tokens
        gives_up = (1, f"systemrdl-compiler gives up: {error}")
        raise WrongCard(str(file), printer.errors or [gives_up]) from error


def mistake(file: Path, node: Node, reason: str) -> tuple[int, str]:
    """Return the line where a node is instantiated, else declared, and the reason, as _at does."""
    return _at(file, node.inst.inst_src_ref or node.inst.def_src_ref, reason)


def _refuse_foreign(files: Sequence[Path]) -> None:
    """Refuse files, and those that they include, if one is too long, not text, has characters that
    a specification can't have, or contains Perl, which the compiler would run."""
    waiting = [*files]
    seen: set[tuple[Path, Path]] = set()  # a link's own folder says what the file includes
    while waiting:
        file = waiting.pop()
        key = (file.resolve(), file.parent.resolve())
        if key in seen:
            continue
        if len(seen) == FILES_MAX:
            raise UserError(f"{file}: more than {FILES_MAX} files are included")
        seen.add(key)
        text = _text(file)
        if PERL in text:
            place = text[: text.index(PERL)].count("\n") + 1
            raise WrongCard(str(file), [(place, "Perl is not run: write out what it makes")])
        waiting += _included(file, text)


def _included(file: Path, text: str) -> Iterator[Path]:
    """Return the files that a text includes, if they are there; the compiler names those that are
    not."""
    for match in INCLUDED.finditer(text):
        path = file.parent / (match[2] or match[3])
        if path.is_file():
            yield path


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            raw = opened.read(BYTES_MAX + 1)
        text = raw.decode()
    except IsADirectoryError as error:
        raise UserError(f"{file}: a folder, not a .rdl file") from error
    except UnicodeDecodeError as error:
        raise WrongCard(str(file), [(1, "not UTF-8: save the file as UTF-8")]) from error
    except (OSError, ValueError) as error:
        raise UserError(f"{file}: {getattr(error, 'strerror', None) or error}") from error
    if len(raw) > BYTES_MAX:
        raise WrongCard(str(file), [(1, f"longer than {BYTES_MAX} bytes: no card")])
    if wrong := list(controls(text)):
        raise WrongCard(str(file), wrong)
    return text


class _Told(MessagePrinter):
    """Collects the errors."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.errors: list[tuple[int, str]] = []

    def print_message(self, severity: Severity, text: str, src_ref: SourceRefBase | None) -> None:
        if severity == Severity.ERROR or (severity > Severity.ERROR and not self.errors):
            reason = " ".join(text.partition(" expecting {")[0].split())
            advice = next((one for sign, one in ADVICE.items() if re.match(sign, reason)), "")
            self.errors.append(_at(self._file, src_ref, reason + advice))


def _at(file: Path, place: SourceRefBase | None, reason: str) -> tuple[int, str]:
    """Return the line and the reason; of another file, 1, and the reason begins with its place."""
    line = int(getattr(place, "line", 1))
    if not isinstance(place, FileSourceRef):
        return 1, reason
    return (line, reason) if Path(place.path) == file else (1, f"{place.path}:{line}: {reason}")
