# SPDX-License-Identifier: MIT
"""One Ctrl-C, or a signal to the command's process, ends the command in any phase.  It ends within
two seconds, with exit code 130 and one line of output.  It leaves no process, scratch folder or
half-written file (docs/decisions/0027-stopping.md).

Every command and phase is stopped at random moments that depend on a seed.
"""

import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from terminal import COMMAND, CTRL_C, INTERRUPTED, Home, Running

from understudy_devices.ask import schedulers

pytestmark = pytest.mark.thorough

SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
OUT = ("--out", "run")
COMPARE = ("compare", "--workload", "random", *OUT)
WITH_FILES = ("predict", "--virtual-size", "300M", "--requests", "20000", *OUT)
IN_VM = (
    *("predict", "--on", "vm", "--workload", "random", "--virtual-size", "64MiB"),
    *("--schedulers", "none,cats", *OUT),
)
CONSOLIDATE = ("consolidate", "a=vm.csv", "b=vm.csv", "--depth", "32", "--accept-poor-fit")
PLACE = ("place", "a=vm.csv", "--copies", "a=12", "--devices", "a=9,b=9", "--accept-poor-fit")
KEPT = ("image", "vm.csv", "x.toml.partial")
PROFILE = ("profile", "--device", "image", "--out", "x.toml", "--as", "disk")


@dataclass(frozen=True)
class Moment:
    """Stop `words` within `seconds` after the output contains `after`; `cache` prepares the
    initial cache.  more_seconds: what the command has to print an answer when it is stopped."""

    words: tuple[str, ...]
    after: str = ""
    seconds: float = 0.5
    cache: Callable[[Home], Home] = Home.with_what_is_made
    more_seconds: float = 0


RUN_FOLDERS = [
    {"result.json", "report.html", *tables}
    for tables in (["requests.parquet"], ["replications.parquet"], [])
]
VM = "".join(  # a request each 4 ms, which takes 1 to 10 ms
    f"{40_000 * number},vm,1,Read,0,4096,{10_000 + number * 37_000 % 90_001}\n"
    for number in range(3000)
)

MOMENTS = {
    "start": Moment(("predict", "--requests", "100"), seconds=0.3),
    "order": Moment(("order", "--head", "1", "--requests", "5,9"), seconds=0.2),
    "doctor": Moment(("doctor",), seconds=1.5, cache=Home.with_kernel),
    "simulate": Moment((*COMPARE, "--requests", "2000000"), "simulating"),
    "write": Moment((*COMPARE, "--requests", "20000", "--seeds", "2"), seconds=6),
    "image": Moment(WITH_FILES, "file system", cache=Home.with_kernel),
    "profile": Moment(PROFILE, "rotation", seconds=2),
    "fit": Moment((*CONSOLIDATE, *OUT), "consolidate: ", seconds=3),
    "replicate": Moment((*CONSOLIDATE, *OUT, "--replications", "9999"), "replications 1"),
    "reproduce": Moment(("reproduce", "table2"), seconds=1.5),
    "artifact": Moment(("reproduce", "all", "--on", "sim", *OUT), "sim: ", seconds=4),
    "trace": Moment(("trace", "info", "vm.csv"), seconds=0.8),
    "convert": Moment(("trace", "convert", "vm.csv", "vm.parquet"), seconds=0.8),
    "disks": Moment(("disks",)),
    "card": Moment(("card", "generate", "zach1", *OUT)),
    "place": Moment((*PLACE, "--p95", "12", *OUT), "improve", seconds=0.5, more_seconds=20),
    "dry run": Moment((*IN_VM, "--dry-run"), seconds=3, cache=Home.with_kernel),
}
IN_VMS = {
    "build": Moment(IN_VM, "building", 6, Home.with_kernel),
    "boot": Moment(IN_VM, "booting", 1, Home.ready_to_boot),
    "measure": Moment((*IN_VM, "--requests", "20000"), "measuring", 1),
    "collect": Moment((*IN_VM, "--requests", "500"), "measured", 0.25),
    "files": Moment((*WITH_FILES, "--on", "vm"), "booting", 5, Home.ready_to_boot),
    "sweep": Moment(("sweep", "--on", "vm", "--virtual-size", "300M"), " runs", 3),
}


def stop(running: Running, draw: random.Random) -> None:
    """Stop the command by key or by signal, and perhaps a second time while it is stopping."""
    by_key = draw.random() < 0.5
    how = draw.choice(SIGNALS)

    def once() -> None:
        if by_key:
            running.press(CTRL_C)
        elif not running.ended:
            os.kill(running.pid, how)

    once()
    if draw.random() < 0.5:
        running.pass_time(draw.uniform(0, 0.1))
        once()


def try_once(home: Home, moment: Moment, draw: random.Random) -> bool:
    """Stop the command at a moment; return False if the command had already ended or had not
    started."""
    moment.cache(home)
    with (home.work / "image").open("wb") as image:
        image.truncate(160 * 2**20)
    home.work.joinpath("vm.csv").write_text(VM)
    running = Running(home, *moment.words)
    running.wait_for(moment.after)
    running.pass_time(draw.uniform(0, moment.seconds))
    stop(running, draw)
    code = running.stop(moment.more_seconds)
    assert "Traceback" not in running.said
    assert home.processes() == []
    not_begun = code in [-how for how in SIGNALS] and not running.said.replace("^C", "").strip()
    if code == 0 or not_begun:
        return False
    assert code == 130, running.said
    assert running.lines()[-1].startswith(INTERRUPTED), running.said
    assert running.said.count("understudy: ") == 1
    whole = [home.work / "run", home.work / "runs"]
    assert [path for path in home.left_overs() if not is_whole(path, whole)] == []
    return True


def is_whole(path: Path, runs: list[Path]) -> bool:
    """Return whether a file left behind is allowed.  Finished run folders and traces, the
    journal and lock of a sweep or profile, and a profile's measurements are allowed."""
    if path in runs:
        folders = [path] if path.name == "run" else list(path.iterdir())
        return all({file.name for file in folder.iterdir()} in RUN_FOLDERS for folder in folders)
    if path.name == "vm.parquet":
        return pl.read_parquet(path).height == 3000
    return path.name in ("sweep.parquet.partial", ".sweep.parquet.lock", *KEPT)


once_or_often = pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.slow)])


def try_until_stopped(folder: Path, name: str, moment: Moment, times: int) -> None:
    """Stop the command until `times` attempts succeeded; an attempt that ended before the stop
    does not count."""
    draw = random.Random(f"{name}, {times}")
    stopped = 0
    for trial in range(10 * times):
        stopped += try_once(Home(folder / str(trial)), moment, draw)
        if stopped == times:
            return
    raise AssertionError(f"stopped {stopped} of {times} times, else over before or not begun")


@once_or_often
@pytest.mark.parametrize("name", MOMENTS)
def test_a_command_stops(name: str, times: int, on_disk: Path) -> None:
    try_until_stopped(on_disk, name, MOMENTS[name], times)


@once_or_often
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.xdist_group(f"stop-{name}")) for name in IN_VMS]
)
def test_a_command_with_vms_stops(name: str, times: int, tmp_path: Path) -> None:
    try_until_stopped(tmp_path, name, IN_VMS[name], times)


def test_a_download_stops(tmp_path: Path) -> None:
    """The server accepts the request but never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        proxy = f"http://127.0.0.1:{silent.getsockname()[1]}"
        home = Home(tmp_path)
        running = Running(home, *IN_VM, extra={"http_proxy": proxy, "https_proxy": proxy})
        running.wait_for("fetching linux-image")
        with silent.accept()[0]:
            assert "apt-get" in home.processes()
            running.press(CTRL_C)
            assert running.stop() == 130
    assert home.processes() == []
    assert home.left_overs() == []


def test_an_interrupted_sweep_says_how_to_go_on(tmp_path: Path) -> None:
    """Finished runs are kept, and the resumed sweep writes the same file as an uninterrupted
    sweep."""
    words = ("sweep", "--workloads", "random", "--requests", "50000", "--seeds", "4")
    runs = 4 * len(schedulers.core())
    home = Home(tmp_path).with_what_is_made()
    running = Running(home, *words)
    journal = home.work / "sweep.parquet.partial"
    while not (journal.exists() and journal.read_text().count("\n") > 3):
        running.pass_time(0.05)
        assert not running.ended, running.said
    running.press(CTRL_C)
    assert running.stop() == 130
    assert running.lines()[-1] == (
        f"{INTERRUPTED}finished runs are kept in {journal.name}; give the same command "
        "again to go on"
    )
    lines = journal.read_text().count("\n")
    assert 3 < lines < runs
    again = Running(home, *words)
    assert again.end() == 0
    assert not journal.exists()
    assert pl.read_parquet(home.work / "sweep.parquet").height == runs


def test_killed_outright_it_takes_all_processes_along(tmp_path: Path) -> None:
    """A killed command cannot clean up; the next build in the cache does."""
    home = Home(tmp_path).with_kernel()
    running = Running(home, *WITH_FILES)
    images = home.cache / "understudy" / "images"
    while not any(images.glob(".*/work/script")):
        running.pass_time(0.01)
        assert not running.ended, running.said
    os.kill(running.pid, signal.SIGKILL)
    assert running.end() == -signal.SIGKILL
    while home.processes():
        running.pass_time(0.05)
    assert any(images.glob(".*/work"))
    again = Running(home, *WITH_FILES, "--dry-run")
    assert again.end() == 0
    assert not any(images.glob(".*/work"))


def test_a_worker_that_is_killed_is_one_line(tmp_path: Path) -> None:
    """The kernel kills processes in this way when memory is short."""
    home = Home(tmp_path).with_what_is_made()
    running = Running(home, *COMPARE, "--requests", "2000000")
    running.wait_for("simulating")
    children = subprocess.run(
        ["pgrep", "-P", str(running.pid)], capture_output=True, text=True, check=True
    )
    os.kill(int(children.stdout), signal.SIGKILL)
    assert running.end() == 1
    assert running.lines()[-1].endswith("was killed by SIGKILL; is there memory enough?")
    assert home.left_overs() == []


def test_without_a_terminal_to_hang_up_it_goes_on(tmp_path: Path) -> None:
    """nohup is heeded."""
    home = Home(tmp_path).with_what_is_made()
    command = ["nohup", str(COMMAND), *COMPARE, "--requests", "20000"]
    with subprocess.Popen(
        command,
        cwd=home.work,
        env=home.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr
        next(line for line in process.stderr if "runs done" in line)
        process.send_signal(signal.SIGHUP)
        assert "pick" in process.communicate()[0]
    assert process.returncode == 0


@pytest.mark.parametrize("moment", [MOMENTS["simulate"], MOMENTS["image"]])
def test_what_a_kill_leaves_the_next_command_takes_away(moment: Moment, tmp_path: Path) -> None:
    home = moment.cache(Home(tmp_path))
    running = Running(home, *moment.words)
    running.wait_for(moment.after)
    os.kill(running.pid, signal.SIGKILL)
    running.end()
    while home.processes():
        time.sleep(0.01)
    assert home.left_overs() != []
    other = Running(home, "order", "--head", "1", "--requests", "5,9")
    assert other.end() == 0
    assert home.left_overs() == []


def test_what_lives_is_left_alone(tmp_path: Path) -> None:
    """Folders that no command made, and links, are left alone as well."""
    home = MOMENTS["simulate"].cache(Home(tmp_path))
    theirs = home.temporary / "understudy-1-theirs"
    theirs.mkdir()
    (home.temporary / "understudy-1-link").symlink_to(home.work)
    running = Running(home, *MOMENTS["simulate"].words)
    running.wait_for("simulating")
    before = {*home.temporary.iterdir()}
    assert Running(home, "order", "--head", "1", "--requests", "5,9").end() == 0
    assert {*home.temporary.iterdir()} == before
    assert (home.work / "run").is_dir()
    running.press(CTRL_C)
    assert running.stop() == 130
