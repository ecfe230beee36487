# SPDX-License-Identifier: MIT
"""Builds in two small VMs, with a base that they share and with one each."""

from pathlib import Path

import pytest
from guests import group

from understudy_devices import reproduce
from understudy_devices.base.errors import RunFailed
from understudy_devices.lab.base_image import Source
from understudy_devices.papers.compute import BUILD_MINUTES
from understudy_devices.reproduce import Asked, build_guest
from understudy_devices.reproduce.builds import Built

pytestmark = group("clone_builds")
FEW = {"vms": 2, "rounds": 1, "folders": 1}
IMAGE_BYTES_MIN = 10 * 10**6


def test_shared_and_alone() -> None:
    """What both ways build is the same, and a base that is shared is on the disk once."""
    found = reproduce.named("clones").run(Asked("host", parameters=FEW))
    ways = found.figures["ways"]
    for way, figures in ways.items():
        assert figures["paper_minutes"] == BUILD_MINUTES[way]
        (seconds,) = figures["seconds"]
        assert len(seconds) == FEW["vms"]
        assert seconds == sorted(seconds)
        assert seconds[0] > 0
        assert figures["read_bytes"][0] > 0
    saved = ways["stand-alone"]["disk_bytes"][0] - ways["clones"]["disk_bytes"][0]
    assert saved > IMAGE_BYTES_MIN
    (sentence,) = found.sentences
    assert sentence.endswith("in the dissertation, 1.29.")


def test_what_does_not_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler's own words are the error."""
    monkeypatch.setattr(build_guest, "_source", lambda number: f"int wrong{number} = ;\n")
    with pytest.raises(RunFailed, match=r"build failed: .*f0\.c:2: error"):
        reproduce.named("clones").run(Asked("host", parameters=FEW | {"vms": 1}))


def test_another_result_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = iter("ab")
    monkeypatch.setattr(build_guest, "build", lambda folder, folders: Source(Path("none")))
    results = reproduce.named("clones").module
    monkeypatch.setattr(results, "_labs", lambda *_: [])
    monkeypatch.setattr(results, "build", lambda _: Built((1.0,), 1, 1, frozenset(next(sums))))
    with pytest.raises(RunFailed, match="different programs from the same sources"):
        reproduce.named("clones").run(Asked("host", parameters=FEW))
