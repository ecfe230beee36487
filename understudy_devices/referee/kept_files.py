# SPDX-License-Identifier: MIT
"""The files of a card's runs in a folder, for programs that show them, such as the studio.

| file | content |
| --- | --- |
| NAME.yaml | the card's specification |
| STEM.journal | the journal (cards/journal.py), which grows while the VM runs |
| STEM-findings.json | when the VM has ended: findings, notes, and how many accesses are missing |
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from understudy_devices.base import scratch
from understudy_devices.base.errors import UserError
from understudy_devices.cards import specification
from understudy_devices.referee.events import Finding

SUFFIXES = (".journal", "-findings.json")


def begin(name: str, out: Path, stems: Iterable[str]) -> None:
    """Make the folder, with the specification; UserError if it can't be written.

    The files of an earlier run with one of these stems are deleted: they are not about this run.
    """
    file = specification.file_of(name)
    own = out / file.name
    try:
        out.mkdir(parents=True, exist_ok=True)
        if not (own.exists() and own.samefile(file)):
            own.write_bytes(file.read_bytes())
        for old in (f"{stem}{suffix}" for stem in stems for suffix in SUFFIXES):
            (out / old).unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"{error.filename}: {error.strerror}: name another --out") from error


def judge(
    out: Path, stem: str, findings: Iterable[Finding], notes: Iterable[Finding], missed: int
) -> None:
    """Write what the referee found in a journal."""
    value = {
        "findings": [as_json(finding) for finding in findings],
        "notes": [as_json(note) for note in notes],
        "missed": missed,
    }
    with scratch.replacing(out / f"{stem}-findings.json") as temporary:
        temporary.write_text(json.dumps(value))


def as_json(finding: Finding) -> dict[str, Any]:
    """Return a finding as the commands print it in JSON."""
    return {"rule": finding.rule, "access": finding.number, "text": finding.text}
