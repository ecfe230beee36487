# SPDX-License-Identifier: MIT
"""The result of a probe: a value and its confidence, or the reason why the value was not seen."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

NOT_SEEN = "not seen"

Points = Sequence[tuple[float, float]]
Value = float | int | bool | str | Sequence[float] | Sequence[int]


@dataclass(frozen=True)
class Finding:
    """A value for the profile's key `key` (section.name); a value of None means "not seen".

    `seen` has the measured points: a location, distance or length, and a value in the key's unit.
    """

    key: str
    value: Value | None
    confidence: str = ""
    seen: Points = field(default=(), compare=False, repr=False)

    @property
    def section(self) -> str:
        """Return the section of the profile."""
        return self.key.partition(".")[0]

    @property
    def name(self) -> str:
        """Return the key within the section."""
        return self.key.partition(".")[2]

    def as_json(self) -> dict[str, Any]:
        """Return the value and its confidence."""
        return {"value": self.value, "confidence": self.confidence}


def not_seen(key: str, why: str) -> Finding:
    """Return a finding that has no value, and `why` as the reason."""
    return Finding(key, None, f"{NOT_SEEN}: {why}")


def toml_lines(findings: Sequence[Finding]) -> list[str]:
    """Return the lines of a profile, by section, with each value's confidence.

    A key that was not seen is only a comment, and so is a section without any key that was seen.
    """
    lines = []
    for section in dict.fromkeys(finding.section for finding in findings):
        own = [finding for finding in findings if finding.section == section]
        seen = any(finding.value is not None for finding in own)
        lines += ["", f"[{section}]" if seen else f"# [{section}]"]
        for finding in own:
            lines += _entry(finding)
    return lines


def _entry(finding: Finding) -> list[str]:
    if finding.value is None:
        return [f"# {finding.name}: {finding.confidence}"]
    comment = [f"# {finding.name}: {finding.confidence}"] if finding.confidence else []
    return [*comment, f"{finding.name} = {_literal(finding.value)}"]


def _literal(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"""\n{value}"""' if "\n" in value else f'"{value}"'
    if isinstance(value, Sequence):
        return f"[{', '.join(_literal(each) for each in value)}]"
    return repr(value)
