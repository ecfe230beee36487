# SPDX-License-Identifier: MIT
"""`understudy measure` on a disk of this machine: what it refuses, and that it restores the disk's
settings however it ends.

Loop devices of this machine stand in for disks. tests/vm/test_measure.py has disks with service
times of their own.
"""

import fcntl
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result
from terminal import COMMAND

from understudy_devices.base import put_back
from understudy_devices.cli.main import main

MIB = 2**20
SIZE = 64 * MIB
PATIENCE_SECONDS = 120
INSTANCES = Path("/sys/kernel/tracing/instances")
# Two schedulers that the disk does not have at first, and more requests than a test waits for.
ENDLESS = ("--requests", "1000000", "--think", "2", "--schedulers", "kyber,none")

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("measure")]


def losetup(*words: str) -> str:
    done = subprocess.run(["losetup", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(
            f"no loop device: {done.stderr.strip()}: run the tests as root, where there are"
        )
    return done.stdout.strip()


@contextmanager
def looped(file: Path, *words: str) -> Iterator[Path]:
    """Make a loop device of a file."""
    name = losetup("--find", "--show", *words, str(file))
    try:
        yield Path(name)
    finally:
        losetup("--detach", name)


def image(folder: Path) -> Path:
    """Make an image with random content, so that a test notices any change."""
    file = folder / "image"
    file.write_bytes(random.Random(1).randbytes(MIB) * (SIZE // MIB))
    return file


def settings(disk: Path) -> dict[str, str]:
    """Return all that the kernel shows of the disk's queue."""
    queue = Path("/sys/block") / disk.name / "queue"
    files = (file for file in sorted(queue.rglob("*")) if file.is_file())
    return {str(file.relative_to(queue)): text(file) for file in files}


def scheduler(disk: Path) -> str:
    """Return the disk's scheduler. No other file in queue/ is safe to read while it changes."""
    return text(Path("/sys/block") / disk.name / "queue" / "scheduler")


def text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError as error:
        return str(error.errno)


@pytest.fixture
def disk(on_disk: Path) -> Iterator[Path]:
    """Make a disk with unusual settings, and restore the kernel's settings afterwards."""
    with looped(image(on_disk)) as disk:
        queue = Path("/sys/block") / disk.name / "queue"
        if "mq-deadline" not in text(queue / "scheduler") or "kyber" not in text(
            queue / "scheduler"
        ):
            pytest.fail("this kernel lacks mq-deadline or kyber: modprobe kyber-iosched")
        put_back.write(
            on_disk / "journal",
            queue.parent / "dev",
            [queue / "scheduler", queue / "rotational", queue / "wbt_lat_usec"],
        )
        changed = {"scheduler": "mq-deadline", "nr_requests": "60", "rotational": "0"}
        changed |= {"iosched/read_expire": "777", "wbt_lat_usec": "5000"}
        for name, value in changed.items():
            (queue / name).write_text(value)
        yield disk
        assert not put_back.put_back(on_disk / "journal")


@contextmanager
def unchanged(disk: Path) -> Iterator[None]:
    """Check that the settings are the same afterwards, and that no file of ours is left."""
    before = settings(disk)
    yield
    assert settings(disk) == before
    assert not (put_back.FOLDER / f"{disk.name}.json").exists()
    assert not (INSTANCES / f"understudy-{disk.name}").exists()


def invoked(*words: str | Path) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, ["measure", *map(str, words)], catch_exceptions=False)


def measured(folder: Path, disk: Path, *words: str) -> Path:
    """Run the command and return its run folder."""
    out = folder / f"run-{time.monotonic_ns()}"
    done = invoked("--on", disk, "--out", out, *words)
    assert done.exit_code == 0, done.output
    return out


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


# ---- what it finds ------------------------------------------------------------------


def test_a_whole_answer(disk: Path, tmp_path: Path) -> None:
    """Check result and requests of each scheduler; all sectors are on the disk."""
    with unchanged(disk):
        out = measured(tmp_path, disk, "--requests", "400", "--processes", "3", "--seeds", "2")
    document = json.loads((out / "result.json").read_text())
    offered = settings(disk)["scheduler"].replace("[", "").replace("]", "").split()
    assert [run["scheduler"] for run in document["runs"]] == [
        name for name in offered for _ in range(2)
    ]
    for run in document["runs"]:
        assert run["platform"] == "real"
        assert run["requests"] == run["dispatched"] == 400
        assert run["facts"]["settings"]["queue/scheduler"] == run["scheduler"]
    requests = pl.read_parquet(out / "requests.parquet")
    assert requests.height == 400 * 2 * len(offered)
    assert set(requests["op"]) == {"read"}
    assert requests["sector"].max() < SIZE // 512  # type: ignore[operator]
    assert (requests["arrival_ns"] <= requests["dispatch_ns"]).all()
    assert (requests["dispatch_ns"] <= requests["completion_ns"]).all()
    assert requests["due_ns"].null_count() == requests.height
    assert "loop" in (out / "report.html").read_text()


def test_long_runs_lose_no_event(disk: Path, tmp_path: Path) -> None:
    """There are more events than the kernel's buffer holds."""
    with unchanged(disk):
        words = ("--requests", "60000", "--processes", "4", "--schedulers", "none")
        out = measured(tmp_path, disk, *words)
    assert pl.read_parquet(out / "requests.parquet").height == 60_000


def test_reads_change_nothing_on_the_disk(disk: Path, on_disk: Path, tmp_path: Path) -> None:
    before = digest(on_disk / "image")
    measured(tmp_path, disk, "--requests", "500", "--schedulers", "none")
    os.sync()
    assert digest(on_disk / "image") == before


def test_writes_change_the_disk_where_somebody_says_so(
    disk: Path, on_disk: Path, tmp_path: Path
) -> None:
    before = digest(on_disk / "image")
    words = ("--requests", "500", "--schedulers", "none", "--writes", "50", "--destroy-data")
    with unchanged(disk):
        out = measured(tmp_path, disk, *words)
    assert digest(on_disk / "image") != before
    counts = pl.read_parquet(out / "requests.parquet")["op"].value_counts()
    shares = dict(counts.iter_rows())
    assert 150 < shares["write"] < 350


@pytest.mark.parametrize("workload", ["surge-direct", "surge-buffered"])
def test_a_file_server_on_a_real_disk(workload: str, disk: Path, tmp_path: Path) -> None:
    """The workload gets its own file system, mounted where no other process sees it.

    surge-direct reads single pages; surge-buffered also reads what the page cache reads ahead.
    """
    with unchanged(disk):
        words = ("--workload", workload, "--requests", "500", "--processes", "5")
        out = measured(tmp_path, disk, *words, "--schedulers", "kyber", "--destroy-data")
    requests = pl.read_parquet(out / "requests.parquet")
    assert requests.height == 500
    assert (set(requests["sectors"]) == {8}) == (workload == "surge-direct")
    assert not list(Path("/sys/fs/cgroup").glob("**/understudy-*"))
    assert str(disk) not in Path("/proc/mounts").read_text()
    probe = subprocess.run(["blkid", "-p", disk], capture_output=True, text=True, check=False)
    assert 'TYPE="ext4"' in probe.stdout


def test_the_dry_run_only_says_what_would_be_run(disk: Path, on_disk: Path) -> None:
    before = digest(on_disk / "image")
    words = ("--writes", "50", "--destroy-data", "--schedulers", "none,kyber", "--dry-run")
    with unchanged(disk):
        done = invoked("--on", disk, *words)
    assert done.exit_code == 0
    assert done.stdout.count(f"--device {disk} --writes 50") == 2
    assert done.stderr == ""
    assert digest(on_disk / "image") == before


# ---- however it ends ----------------------------------------------------------------


def started(disk: Path, folder: Path) -> "subprocess.Popen[str]":
    """Start a command that does not end by itself."""
    words = (COMMAND, "measure", "--on", disk, *ENDLESS, "--out", folder / "out")
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
    )


def wait_for_change(disk: Path, command: "subprocess.Popen[str]") -> None:
    """Wait until the command has changed the disk's scheduler."""
    end = time.monotonic() + PATIENCE_SECONDS
    while "[mq-deadline]" in scheduler(disk):
        assert command.poll() is None, command.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


def descendants(of: int) -> list[int]:
    """List the process ids of all descendants, parents before children."""
    lists = Path(f"/proc/{of}/task").glob("*/children")
    children = [int(child) for listed in lists for child in text(listed).split()]
    return children + [further for child in children for further in descendants(child)]


@pytest.mark.parametrize("seed", range(8))
def test_interrupted_at_any_moment(seed: int, disk: Path, tmp_path: Path) -> None:
    """A signal arrives during start-up, when a scheduler is set, or during a run."""
    chance = random.Random(seed)
    how = chance.choice([signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP])
    with unchanged(disk):
        command = started(disk, tmp_path)
        if seed % 4:
            wait_for_change(disk, command)
            time.sleep(chance.choice([0, 0.03, 0.3, 1]) * chance.random())
        else:
            time.sleep(1.5 * chance.random())
        command.send_signal(how)
        _, message = command.communicate(timeout=PATIENCE_SECONDS)
    assert command.returncode == 130, message
    assert message.splitlines()[-1] == "understudy: interrupted: every run was stopped"
    assert not list(tmp_path.iterdir())


def test_when_the_process_that_works_is_killed(disk: Path, tmp_path: Path) -> None:
    """The parent process restores the settings."""
    with unchanged(disk):
        command = started(disk, tmp_path)
        wait_for_change(disk, command)
        os.kill(descendants(command.pid)[0], signal.SIGKILL)
        _, message = command.communicate(timeout=PATIENCE_SECONDS)
    assert command.returncode == 1
    assert "killed by SIGKILL" in message


def test_when_the_workload_is_killed(disk: Path, tmp_path: Path) -> None:
    """Both schedulers' runs fail, since the workload is killed each time, before or after its first
    line."""
    with unchanged(disk):
        command = started(disk, tmp_path)
        wait_for_change(disk, command)
        end = time.monotonic() + PATIENCE_SECONDS
        while command.poll() is None:
            assert time.monotonic() < end
            for pid in descendants(command.pid)[1:]:
                if text(Path(f"/proc/{pid}/comm")) == "random\n":
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.2)
        _, message = command.communicate()
    assert command.returncode == 1
    reasons = re.findall("understudy: the workload (.*): it printed nothing\n", message)
    assert reasons
    assert len(set(reasons)) == len(reasons)
    assert set(reasons) <= {"failed", "did not start"}


def test_the_next_command_puts_back_what_nobody_could(disk: Path, tmp_path: Path) -> None:
    """After SIGKILL to all processes, any later command restores the settings and reports it."""
    with unchanged(disk):
        command = started(disk, tmp_path)
        wait_for_change(disk, command)
        workers = descendants(command.pid)
        for pid in (command.pid, *workers):
            os.kill(pid, signal.SIGKILL)
        command.communicate(timeout=PATIENCE_SECONDS)
        end = time.monotonic() + PATIENCE_SECONDS
        while any(Path(f"/proc/{pid}").exists() for pid in workers):
            assert time.monotonic() < end
            time.sleep(0.05)
        assert "[mq-deadline]" not in settings(disk)["scheduler"]
        done = invoked("--on", "/dev/null")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[0] == (
        f"{disk}: a command that was killed left other settings; they are put back"
    )
    assert "killed" not in invoked("--on", "/dev/null").stderr


def test_what_another_command_measures_is_not_put_back_under_it(disk: Path, tmp_path: Path) -> None:
    command = started(disk, tmp_path)
    with unchanged(disk):
        wait_for_change(disk, command)
        done = invoked("--on", "/dev/null")
        assert "put back" not in done.stderr
        again = invoked("--on", disk, "--requests", "10", "--schedulers", "none")
        assert "[mq-deadline]" not in settings(disk)["scheduler"]
        command.terminate()
        command.communicate(timeout=PATIENCE_SECONDS)
    assert again.exit_code == 2
    assert "another command measures" in again.stderr


def test_a_tunable_that_nobody_has_fails_the_run(disk: Path) -> None:
    with unchanged(disk):
        words = ("--schedulers", "none,kyber", "--set", "kyber.nonsense=1", "--requests", "10")
        done = invoked("--on", disk, *words, "--json")
    assert done.exit_code == 1
    assert "iosched/nonsense refuses 1: " in done.stderr
    assert [run["scheduler"] for run in json.loads(done.stdout)["runs"]] == ["none"]


# ---- what is refused ----------------------------------------------------------------


def refused(disk: Path, *words: str) -> str:
    """Return the one-line error message without its common prefix."""
    done = invoked("--on", disk, *words)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    return done.stderr.removeprefix("understudy: ").removeprefix(f"--on: {disk}: ").rstrip()


def test_what_is_no_disk(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(bytes(MIB))
    name = "name a disk: lsblk lists the disks"
    assert refused(tmp_path / "absent") == "No such file or directory; lsblk lists the disks"
    assert refused(tmp_path) == f"is a folder; {name}"
    assert refused(tmp_path / "pipe") == f"is a pipe; {name}"
    assert refused(Path("/dev/null")) == f"is a character device; {name}"
    assert refused(tmp_path / "file") == "is a file; losetup --find --show makes a disk of it"


def test_a_disk_with_nothing_behind_it() -> None:
    empty = losetup("--find")
    assert refused(Path(empty)) == "has no sectors: there is nothing behind it"


def test_one_that_somebody_uses(disk: Path, on_disk: Path) -> None:
    """A disk in use is refused even for reads, since the measurement would contain
    other requests.
    """
    subprocess.run(["mke2fs", "-q", disk], check=True, capture_output=True)
    mounted = on_disk / "mounted"
    mounted.mkdir()
    subprocess.run(["mount", "-o", "ro", disk, mounted], check=True)
    try:
        with unchanged(disk):
            message = refused(disk)
            assert message == f"{disk.name} is mounted on {mounted}; umount it first"
            assert refused(disk, "--writes", "10", "--destroy-data") == message
    finally:
        subprocess.run(["umount", mounted], check=True)
    with looped(disk) as upper:
        assert refused(disk) == (
            f"{upper.name} is made of {disk.name}; losetup -d /dev/{upper.name} first"
        )
    holder = os.open(disk, os.O_RDONLY | os.O_EXCL)
    try:
        assert refused(disk).startswith("is in use by something that can't be seen from here")
    finally:
        os.close(holder)


def test_one_that_is_locked(disk: Path) -> None:
    """The test locks the disk as udev and other programs do."""
    with disk.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = invoked("--on", disk, "--requests", "10", "--schedulers", "none")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == (
        f"understudy: --on: {disk}: another command measures or prepares it; wait for that"
    )


def test_one_that_is_read_only(on_disk: Path, tmp_path: Path) -> None:
    with looped(image(on_disk), "--read-only") as disk:
        message = refused(disk, "--writes", "10", "--destroy-data")
        assert message == "is read-only; leave --destroy-data out"
        measured(tmp_path, disk, "--requests", "20", "--schedulers", "none")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--writes", "30"), "--writes: what is on {} would be lost: add --destroy-data"),
        (
            ("--workload", "surge-direct"),
            "--workload: surge-direct uses a file system of its own; what is on {} would be lost: "
            "add --destroy-data",
        ),
        (("--destroy-data",), "--destroy-data: random writes nothing; leave it out"),
        (
            ("--workload", "sequential"),
            "--workload: sequential does not run on a real disk",
        ),
        (
            ("--schedulers", "none,none"),
            "--schedulers: none is named twice; --seeds N repeats runs",
        ),
        (("--schedulers", "deadlin"), '--schedulers: unknown scheduler "deadlin": did you mean'),
        (("--schedulers", "cats"), "--schedulers: cats is not in kernel "),
        (("--requests", "0"), "--requests: 0 is outside 1 to 100000000"),
        (("--queue-depth", "2"), "can't be changed; leave --queue-depth out"),
        (("--set", "bfq.low_latency=0", "--schedulers", "none"), "--set: bfq is not among"),
    ],
)
def test_what_is_asked_wrong(words: tuple[str, ...], message: str, disk: Path) -> None:
    with unchanged(disk):
        assert message.format(disk) in refused(disk, *words)


def test_only_root_chooses_a_scheduler(disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert refused(disk) == "only root may choose its scheduler; be root"


def test_what_is_there_is_not_predicted() -> None:
    done = CliRunner().invoke(main, ["predict", "--on", "real"])
    assert done.exit_code == 2
    assert done.stderr == (
        "understudy: --on: real: to measure a real disk, use understudy measure --device /dev/sdX\n"
    )
