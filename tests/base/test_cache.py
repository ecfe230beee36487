# SPDX-License-Identifier: MIT
"""The cache repairs broken entries, reports its size, and can be emptied while it is in use."""

import fcntl
import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from terminal import COMMAND, Home, Running

from understudy_devices.base import cache
from understudy_devices.base.errors import RunFailed
from understudy_devices.platforms.vm import packages

pytestmark = pytest.mark.thorough

PREDICT = ("predict", "--workload", "random", "--requests", "100", "--schedulers", "fcfs")
DAY_SECONDS = 86_400


@pytest.fixture
def things(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "understudy" / "things"


def as_another_process() -> None:
    """Forget which cache entries this process uses."""
    for descriptor in cache._used.values():
        os.close(descriptor)
    cache._used.clear()


def small(folder: Path) -> None:
    (folder / "inside").mkdir()
    (folder / "inside" / "program").write_bytes(b"whole")


def large(folder: Path) -> None:
    small(folder)
    with (folder / "image").open("wb") as image:
        image.truncate(cache.READ_BYTES_MAX + 1)


BREAKAGES: dict[str, Callable[[Path], Any]] = {
    "cut off": lambda file: os.truncate(file, 2),
    "empty": lambda file: os.truncate(file, 0),
    "longer": lambda file: file.write_bytes(b"whole and more"),
    "gone": os.unlink,
    "changed": lambda file: file.write_bytes(b"other"),
}


@pytest.mark.parametrize("breakage", BREAKAGES)
def test_what_is_broken_is_made_again(breakage: str, things: Path) -> None:
    program = cache.cached_folder("things/one", small) / "inside" / "program"
    BREAKAGES[breakage](program)
    as_another_process()
    assert cache.cached_folder("things/one", small) == things / "one"
    assert program.read_bytes() == b"whole"
    assert {path.name for path in things.iterdir()} == {"one", ".one.lock"}


def test_what_is_large_is_known_by_its_sizes(things: Path) -> None:
    image = cache.cached_folder("things/one", large) / "image"
    os.truncate(image, 100)
    as_another_process()
    cache.cached_folder("things/one", large)
    assert image.stat().st_size == cache.READ_BYTES_MAX + 1


def test_what_is_whole_is_not_made_again(things: Path) -> None:
    cache.cached_folder("things/one", large)
    as_another_process()
    cache.cached_folder("things/one", lambda folder: pytest.fail("made again"))


@pytest.mark.parametrize("lock", [False, True])
def test_what_an_earlier_version_made_is_made_again(lock: bool, things: Path) -> None:
    """That version recorded no list of contents.  The old folder stays until it can be built
    again."""
    (things / "one").mkdir(parents=True)
    if lock:
        (things / ".one.lock").touch()
    with pytest.raises(pytest.fail.Exception):
        cache.cached_folder("things/one", lambda folder: pytest.fail("no network"))
    assert (things / "one").exists()
    assert (cache.cached_folder("things/one", small) / "inside" / "program").exists()


def test_a_scheduler_that_was_cut_off_is_compiled_again(tmp_path: Path) -> None:
    home = Home(tmp_path)

    def predicted() -> bytes:
        done = subprocess.run(
            [COMMAND, *PREDICT], cwd=home.work, env=home.environment(), capture_output=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.partition(b"wall seconds")[0]

    first = predicted()
    (code,) = home.cache.glob("understudy/schedulers/fcfs-*/scheduler.so")
    os.truncate(code, 100)
    assert predicted() == first


def run(home: Home, *words: str) -> str:
    done = subprocess.run(
        [COMMAND, "cache", *words],
        cwd=home.work,
        env=home.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.fixture
def filled(tmp_path: Path) -> Home:
    """Build a cache with two folders, one unused for 40 days."""
    home = Home(tmp_path)
    for name, days in (("new", 0.5), ("old", 40)):
        folder = home.cache / "understudy" / "programs" / name
        folder.mkdir(parents=True)
        (folder / "program").write_bytes(bytes(2_000_000))
        used = time.time() - days * DAY_SECONDS
        os.utime(folder, (used, used))
    return home


def left(home: Home) -> set[str]:
    return {path.name for path in (home.cache / "understudy" / "programs").glob("[!.]*")}


def test_the_cache_has_a_size_to_see(filled: Home) -> None:
    (programs,) = json.loads(run(filled, "--json"))
    assert (programs["kind"], programs["folders"]) == ("programs", 2)
    assert 4_000_000 <= programs["bytes"] < 4_100_000
    assert 0.5 <= programs["last_used_days"] < 0.6
    assert "4.0 MB in " in run(filled)


def test_prune_takes_what_is_old_or_all(filled: Home) -> None:
    assert run(filled, "prune", "--older", "30").startswith("removed 1 folders, 2.0 MB")
    assert left(filled) == {"new"}
    run(filled, "prune", "--all")
    assert left(filled) == set()


@pytest.mark.parametrize("words", [(), ("--all", "--older", "3"), ("--older", "-1")])
def test_prune_wants_to_know_what(words: tuple[str, ...], filled: Home) -> None:
    with pytest.raises(subprocess.CalledProcessError) as failed:
        run(filled, "prune", *words)
    assert failed.value.returncode == 2
    assert left(filled) == {"new", "old"}


def test_prune_leaves_what_is_used(filled: Home) -> None:
    used = filled.cache / "understudy" / "programs" / "old"
    descriptor = os.open(used, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    output = run(filled, "prune", "--all")
    os.close(descriptor)
    assert "kept 1 that running commands use" in output
    assert left(filled) == {"old"}


def test_prune_beside_a_running_command(tmp_path: Path) -> None:
    home = Home(tmp_path)
    words = ("compare", "--workload", "random", "--requests", "20000", "--seeds", "20")
    running = Running(home, *words, "--schedulers", "fcfs,look", "--out", "run")
    running.wait_for("simulating")
    while not running.ended:
        run(home, "prune", "--all")
        running.pass_time(0.2)
    assert running.end() == 0


def test_a_disk_that_is_full_while_the_kernel_is_fetched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "apt-get"
    program.write_text(
        "#!/bin/sh\necho 'E: Write error - write (28: No space left on device)' >&2\nexit 100\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def fetch(folder: Path) -> None:
        packages._download("linux", folder)

    with pytest.raises(RunFailed) as failure:
        cache.cached_folder("kernel/one", fetch)
    assert "No space left on device" in str(failure.value)
    assert "network" not in str(failure.value)


def test_folders_in_use_do_not_use_up_descriptors(
    things: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "USED_MOST", 3)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for number in range(40):
        cache.cached_folder(f"used-{number}", lambda folder: None)
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 3
