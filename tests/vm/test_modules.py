# SPDX-License-Identifier: MIT
"""A module's bytes are its sources', wherever it is built and whatever else there is."""

import shutil
from pathlib import Path

import pytest

from understudy.base import sources
from understudy.native import registry
from understudy.platforms.vm import modules, packages


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> packages.Kernel:
    """The kernel and the cache in a folder with a long path."""
    kernel = packages.fetch_kernel()
    place = tmp_path / ("a-cache-with-a-long-name" * 4)
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    copy = packages.Kernel(kernel.release, kernel.version, place / "kernel" / kernel.folder.name)
    for folder in ("usr", "private"):
        shutil.copytree(
            kernel.folder / folder, copy.folder / folder, symlinks=True, copy_function=shutil.copy
        )
    makefile = copy.headers / "Makefile"
    makefile.write_text(makefile.read_text().replace(str(kernel.folder), str(copy.folder)))
    return copy


def test_the_same_bytes_from_another_place_and_beside_another_scheduler(
    elsewhere: packages.Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.delenv("XDG_CACHE_HOME")
        kernel = packages.fetch_kernel()
        here = [*modules.base_modules(kernel), modules.scheduler_module(kernel, "cfq")]
    text = registry.source("fcfs").text.replace(b'"fcfs"', b'"one-more"')
    more = {**sources.taken(), "core/schedulers/one-more.c": text}
    monkeypatch.setattr(sources, "taken", lambda: more)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    there = [*modules.base_modules(elsewhere), modules.scheduler_module(elsewhere, "cfq")]
    assert [path.name for path in there] == [path.name for path in here]
    for one, other in zip(here, there, strict=True):
        assert one.parent != other.parent
        assert one.read_bytes() == other.read_bytes(), one.name


def test_a_module_names_no_folder() -> None:
    kernel = packages.fetch_kernel()
    for module in [*modules.base_modules(kernel), modules.scheduler_module(kernel, "fcfs")]:
        assert str(kernel.folder).encode() not in module.read_bytes()
        assert b"/tree/" not in module.read_bytes()
