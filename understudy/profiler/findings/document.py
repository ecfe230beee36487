# SPDX-License-Identifier: MIT
"""Findings as a profile that the rest of Understudy reads.

What contradicts the other findings is dropped key by key, and the profile says so: whatever a probe
got wrong, the rest of what was measured is kept.
"""

import tomllib
from collections.abc import Sequence

from pydantic import ValidationError

from understudy.base.errors import RunFailed
from understudy.device.profile import DiskProfile
from understudy.profiler.findings.finding import Finding, not_seen, toml_lines

NEEDED = "buffer.bus_mb_per_s"


def complete(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """By section; one that lacks what a profile needs in it is not seen as a whole, and what
    contradicts the rest is not seen either."""
    return _consistent(findings)[0]


def disk(findings: Sequence[Finding]) -> DiskProfile:
    """Checked."""
    return _consistent(findings)[1]


def parse(text: str) -> DiskProfile:
    """A profile's text."""
    try:
        return _validated(text)
    except ValidationError as error:
        raise _no_words(error) from error


def _consistent(findings: Sequence[Finding]) -> tuple[tuple[Finding, ...], DiskProfile]:
    found = list(findings)
    if not any(each.key == NEEDED and each.value is not None for each in found):
        found = [_without(each, "buffer", each.confidence) for each in found]
    sections = list(dict.fromkeys(each.section for each in found))
    found.sort(key=lambda each: sections.index(each.section))
    while True:
        try:
            return tuple(found), _validated("\n".join(toml_lines(found)))
        except ValidationError as error:
            fewer = _without_first(found, error)
            if fewer == found:
                raise _no_words(error) from error
            found = fewer


def _validated(text: str) -> DiskProfile:
    return DiskProfile.model_validate({**tomllib.loads(text), "name": "profiled"})


def _without_first(found: list[Finding], error: ValidationError) -> list[Finding]:
    """But for the key that is wrong, or, if nobody has found that, for all of its section."""
    (section, *name), why = _first(error)
    for part in (".".join([section, *name[:1]]), section):
        fewer = [_without(each, part, why) for each in found]
        if fewer != found:
            break
    return fewer


def _first(error: ValidationError) -> tuple[list[str], str]:
    """The first key that is wrong, in parts, and why."""
    first = error.errors()[0]
    key = first.get("ctx", {}).get("key", "")
    return [*map(str, first["loc"]), *filter(None, key.split("."))], first["msg"]


def _no_words(error: ValidationError) -> RunFailed:
    key, why = _first(error)
    return RunFailed(
        f"target: behaves like no drive that a profile has words for: {'.'.join(key)}: {why}"
    )


def _without(found: Finding, part: str, why: str) -> Finding:
    """Not seen, if that is its key or its section."""
    if found.value is None or part not in (found.key, found.section):
        return found
    return not_seen(found.key, why)
