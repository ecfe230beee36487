# SPDX-License-Identifier: MIT
"""Converts findings to a profile, the file format that Understudy's other parts read.

Keys that contradict the other findings are removed one by one, and the profile says why.  So an
error of one probe does not affect the findings of the others.
"""

import tomllib
from collections.abc import Sequence

from pydantic import ValidationError

from understudy_devices.base.errors import RunFailed
from understudy_devices.device.profile import DiskProfile
from understudy_devices.profiler.findings.finding import Finding, not_seen, toml_lines

NEEDED = "buffer.bus_mb_per_s"


def complete(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return findings sorted by section.

    A section without a key that profiles require becomes "not seen" as a whole.  A key that
    contradicts the other keys becomes "not seen", too.
    """
    return _consistent(findings)[0]


def disk(findings: Sequence[Finding]) -> DiskProfile:
    """Return the checked profile."""
    return _consistent(findings)[1]


def parse(text: str) -> DiskProfile:
    """Parse a profile's text; raise an exception if it is invalid."""
    try:
        return _validated(text)
    except ValidationError as error:
        raise _no_words(error) from error


def _consistent(findings: Sequence[Finding]) -> tuple[tuple[Finding, ...], DiskProfile]:
    entries = list(findings)
    if not any(each.key == NEEDED and each.value is not None for each in entries):
        entries = [_without(each, "buffer", each.confidence) for each in entries]
    sections = list(dict.fromkeys(each.section for each in entries))
    entries.sort(key=lambda each: sections.index(each.section))
    while True:
        try:
            return tuple(entries), _validated("\n".join(toml_lines(entries)))
        except ValidationError as error:
            fewer = _without_first(entries, error)
            if fewer == entries:
                raise _no_words(error) from error
            entries = fewer


def _validated(text: str) -> DiskProfile:
    return DiskProfile.model_validate({**tomllib.loads(text), "name": "profiled"})


def _without_first(findings: list[Finding], error: ValidationError) -> list[Finding]:
    """Return the findings without the invalid key or, if no finding has that key, without its
    section.
    """
    (section, *name), why = _first(error)
    for part in (".".join([section, *name[:1]]), section):
        fewer = [_without(each, part, why) for each in findings]
        if fewer != findings:
            break
    return fewer


def _first(error: ValidationError) -> tuple[list[str], str]:
    """Return the first invalid key, split at its dots, and why it is invalid."""
    first = error.errors()[0]
    key = first.get("ctx", {}).get("key", "")
    return [*map(str, first["loc"]), *filter(None, key.split("."))], first["msg"]


def _no_words(error: ValidationError) -> RunFailed:
    key, why = _first(error)
    return RunFailed(f"target: no profile can describe this drive:  {'.'.join(key)}: {why}")


def _without(finding: Finding, part: str, why: str) -> Finding:
    """Return the finding as "not seen" if `part` is its key or its section."""
    if finding.value is None or part not in (finding.key, finding.section):
        return finding
    return not_seen(finding.key, why)
