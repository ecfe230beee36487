# SPDX-License-Identifier: MIT
"""Findings as a profile that the rest of Understudy reads."""

import tomllib
from collections.abc import Sequence
from dataclasses import replace

from pydantic import ValidationError

from understudy.base.errors import RunFailed
from understudy.device.profile import DiskProfile
from understudy.profiler.found import Finding, toml_lines

NEEDED = "buffer.bus_mb_per_s"


def complete(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """By section; one that lacks what a profile needs in it is not seen as a whole."""
    found = list(findings)
    if not any(each.key == NEEDED and each.value is not None for each in found):
        found = [_without_buffer(each) for each in found]
    sections = list(dict.fromkeys(each.section for each in found))
    return tuple(sorted(found, key=lambda each: sections.index(each.section)))


def disk(findings: Sequence[Finding]) -> DiskProfile:
    """Checked."""
    return parse("\n".join(toml_lines(complete(findings))))


def parse(text: str) -> DiskProfile:
    """A profile's text."""
    try:
        return DiskProfile.model_validate({**tomllib.loads(text), "name": "profiled"})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        said = f"{where}: {first['msg']}".strip(": ")
        raise RunFailed(
            f"target: behaves like no drive that a profile has words for: {said}"
        ) from error


def _without_buffer(found: Finding) -> Finding:
    if found.section != "buffer" or found.value is None:
        return found
    return replace(found, value=None, confidence=f"not seen: {found.confidence}")
