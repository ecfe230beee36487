# SPDX-License-Identifier: MIT
"""Errors of serve-disk are one-line messages.

However serve-disk ends, it prints its report and leaves nothing behind.
"""

import json
import os
import random
import resource
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from nbd import FLUSH, READ, Client, Request
from serving import Served, serving
from terminal import COMMAND, CTRL_C, INTERRUPTED, Home, Running

pytestmark = pytest.mark.thorough

LINE = "[model]\nintercept_ms = 0.4\nfull_seek_ms = 3.0\n"
SLOW = "[model]\nintercept_ms = 50000\nfull_seek_ms = 0\n"
VIRTUAL = "refused: a guest in a virtual clock"
SMALL = ("--size", "64M")


def refused(home: Home, *words: str, **environment: str) -> str:
    """Run a command that fails; check that nothing is left, and return its message."""
    before = home.left_overs()
    done = subprocess.run(
        [COMMAND, "serve-disk", *words],
        cwd=home.work,
        env=home.environment() | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("understudy: ")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert home.left_overs() == before
    assert home.processes() == []
    return done.stderr


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home").with_what_is_made()
    (home.work / "line.toml").write_text(LINE)
    (home.work / "slow.toml").write_text(SLOW)
    (home.work / "wrong.toml").write_text(LINE.replace("0.4", '"0.4"'))
    (home.work / "torn.toml").write_text("[model")
    (home.work / "small.img").write_bytes(bytes(2**20))
    (home.work / "tiny.img").write_bytes(bytes(1000))
    (home.work / "taken.sock").touch()
    return home


WRONG = {
    "no disk": (("--disk", "cheetah-15k"), 'did you mean "cheetah-15k'),
    "no file": (("--disk", "none.toml"), "none.toml: No such file"),
    "a mistake": (("--disk", "wrong.toml"), "model.intercept_ms: "),
    "not TOML": (("--disk", "torn.toml"), "not TOML"),
    "no size": (("--disk", "line.toml", "--size", "large"), "--virtual-size: large is not a size"),
    "too small": (("--disk", "line.toml", "--size", "1K"), "outside 64KiB to 16TiB"),
    "too large": (("--disk", "line.toml", "--size", "17TiB"), "outside 64KiB to 16TiB"),
    "part of a sector": (("--disk", "line.toml", "--size", "70000"), "whole number of sectors"),
    "taken socket": (("--disk", "line.toml", "--socket", "taken.sock"), "taken.sock exists"),
    "long socket": (("--disk", "line.toml", "--socket", "x" * 100), "take a shorter one"),
    "socket nowhere": (("--disk", "line.toml", "--socket", "no/x"), "No such file"),
    "two places": (("--disk", "line.toml", "--socket", "x", "--port", "0"), "at one of them"),
    "no port": (("--disk", "line.toml", "--port", "65536"), "65536"),
    "small data": (
        ("--disk", "line.toml", "--size", "2M", "--data", "small.img"),
        "too few for a disk of 1,998,848; --virtual-size 2048s takes what there is",
    ),
    "tiny data": (("--disk", "line.toml", "--data", "tiny.img"), "--virtual-size"),
    "no data": (("--disk", "line.toml", "--data", "."), "is not a file"),
    "data nowhere": (("--disk", "line.toml", "--data", "no/x"), "No such file"),
    "old records": (("--disk", "line.toml", *SMALL, "--records", "small.img"), "File exists"),
    "records nowhere": (("--disk", "line.toml", *SMALL, "--records", "no/x"), "No such file"),
    "no k": (("--disk", "line.toml", "--scale", "0"), "--scale"),
    "k without end": (("--disk", "line.toml", "--scale", "inf"), "--scale"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(home: Home, name: str) -> None:
    words, answer = WRONG[name]
    assert answer in refused(home, *words)


def test_a_port_that_is_taken(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        message = refused(home, "--disk", "line.toml", "--port", str(server.getsockname()[1]))
    assert "Address already in use; 0 takes one that is free" in message


def test_without_nbdkit(home: Home, tmp_path: Path) -> None:
    for name in ("env", "sh", "gcc", "dirname", "readlink", "realpath"):
        if program := next(Path("/usr/bin").glob(name), None):
            (tmp_path / name).symlink_to(program)
    message = refused(home, "--disk", "line.toml", *SMALL, PATH=str(tmp_path))
    assert "no nbdkit here" in message
    assert "apt-get install nbdkit nbdkit-plugin-dev" in message


def test_one_file_is_one_disk(home: Home, tmp_path: Path) -> None:
    data = str(home.work / "small.img")
    profile = str(home.work / "line.toml")
    with serving(tmp_path / "other", "--disk", profile, "--data", data):
        assert f"another disk keeps its data in {data}" in refused(
            home, "--disk", "line.toml", "--data", data
        )


def is_gone(served: Served, *files: Path) -> None:
    """Check that no process, socket or scratch folder is left; records and `kept` may remain."""
    assert served.home.processes() == []
    assert set(served.home.left_overs()) <= {served.records, *files}


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("after", [0, 5])
def test_it_ends_with_its_report(tmp_path: Path, how: int, after: int) -> None:
    """At the signal, some requests are in flight that would take minutes, or none."""
    profile = tmp_path / "slow.toml"
    profile.write_text(SLOW)
    served = Served(Home(tmp_path / "home").with_what_is_made(), "--disk", str(profile), *SMALL)
    served.wait_until_ready()
    client = served.client()
    for sector in range(after):
        client.send(Request(READ, 4096 * sector, 4096))
    with client:
        report = served.end(how)
    assert served.process.returncode == 130
    assert served.said.splitlines()[-1] == f"{INTERRUPTED}slow is no longer served"
    assert (report["schema"], report["disk"]) == ("understudy.served/1", "slow")
    assert report["requests"] == 0
    assert report["lateness_us"] == dict.fromkeys(("mean", "p50", "p99", "max"))
    assert report["service_error"] is None
    is_gone(served)


def test_at_any_moment(tmp_path: Path) -> None:
    """Ctrl-C is pressed on a terminal up to three times, at a random moment."""
    draw = random.Random(3)
    ended = []
    for trial in range(8):
        home = Home(tmp_path / str(trial))
        home = home.with_what_is_made() if trial else home
        running = Running(home, "serve-disk", "--disk", "cheetah-15k4")
        running.pass_time(draw.uniform(0, 2.5))
        for _ in range(draw.randint(1, 3)):
            running.press(CTRL_C)
        ended.append(running.end())
        assert running.said.count("understudy: ") == 1, running.said
        assert "Traceback" not in running.said
        assert home.processes() == []
        assert home.left_overs() == []
    assert ended == [130] * 8


def test_the_report_in_words(home: Home) -> None:
    running = Running(home, "serve-disk", "--disk", "line.toml", *SMALL, "--socket", "s")
    running.wait_for("Ctrl-C ends it")
    with Client(home.work / "s") as client:
        for sector in range(20):
            client.read(8 * sector)
    running.press(CTRL_C)
    assert running.end() == 130
    lines = running.lines()
    assert "requests      20" in lines
    lateness = next(line for line in lines if line.startswith("lateness"))
    assert all(word in lateness for word in ("mean", "p50", "p99", "at most"))


def nbdkit_of(served: Served) -> int:
    """Return the process id of nbdkit."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            is_it = (process / "comm").read_text() == "nbdkit\n"
            if is_it and served.home.mark.encode() in (process / "environ").read_bytes():
                return int(process.name)
        except OSError:
            continue
    raise AssertionError("no nbdkit")


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (signal.SIGKILL, "nbdkit was killed by SIGKILL"),
        (signal.SIGTERM, "nbdkit ended with exit code 0"),
    ],
)
def test_a_server_that_is_killed(home: Home, how: int, words: str) -> None:
    """The report is printed nevertheless."""
    files = list(home.work.iterdir())
    served = Served(home, "--disk", "line.toml", *SMALL)
    served.wait_until_ready()
    with served.client() as client:
        client.read(0)
        client.read(100)
    os.kill(nbdkit_of(served), how)
    report = served.end(None)
    assert served.process.returncode == 1
    assert words in served.said.splitlines()[-1]
    assert report["requests"] == 2
    is_gone(served, *files)


def test_killed_outright_it_takes_the_server_along(home: Home) -> None:
    """The next command removes the socket and the scratch folder."""
    files = list(home.work.iterdir())
    served = Served(home, "--disk", "line.toml", *SMALL)
    served.wait_until_ready()
    served.end(signal.SIGKILL)
    while home.processes():
        pass
    assert served.socket.exists()
    assert Running(home, "order", "--head", "1", "--requests", "5,9").end() == 0
    is_gone(served, *files)


def test_a_client_that_goes_away(home: Home, tmp_path: Path) -> None:
    """The disk completes a lost client's requests before it serves other clients."""
    with serving(tmp_path / "other", "--disk", str(home.work / "line.toml"), *SMALL) as served:
        with served.client() as lost:
            for sector in range(10):
                lost.send(Request(READ, 4096 * sector, 4096))
            lost.receive()
        with served.client() as torn:
            torn.socket.sendall(b"\x25\x60\x95\x13 half a request")
        with socket.socket(socket.AF_UNIX) as dumb:
            dumb.connect(str(served.socket))
        with served.client() as client:
            client.read(1000)
        served.wait_for_rows()
        report = served.end()
    rows = served.rows()
    assert 2 <= len(rows) <= 11
    assert report["requests"] == len(rows)
    free_ns = 0
    for row in rows:
        assert row.due_ns == max(row.arrival_ns, free_ns) + row.service_ns
        free_ns = row.due_ns
    assert 1000 in {row.sector for row in rows}


HALF_A_REQUEST = b"\x25\x60\x95\x13 half"
NO_REQUEST = b"not a request, and long enough"


@pytest.mark.parametrize("last_words", [b"", HALF_A_REQUEST, NO_REQUEST])
def test_clients_that_go_away_in_the_middle_of_their_answers(
    home: Home, tmp_path: Path, last_words: bytes
) -> None:
    """All answers are due at once, in many threads, and the client has gone."""
    rounds, at_once = 100, 16
    with serving(tmp_path / "other", "--disk", str(home.work / "line.toml"), *SMALL) as served:
        for _ in range(rounds):
            with served.client() as lost:
                for _ in range(at_once):
                    lost.send(Request(FLUSH))
                lost.socket.sendall(last_words)
        with served.client() as client:
            client.read(1000)
            assert served.process.poll() is None


QEMU = ("qemu-system-x86_64", "-nodefaults", "-display", "none", "-S", "-monitor", "stdio")


@pytest.mark.parametrize("clock", ["wall", "virtual"])
def test_a_guest_in_a_virtual_clock_is_refused(home: Home, tmp_path: Path, clock: str) -> None:
    """QEMU gets the printed -drive option.

    If QEMU has a virtual clock, it is refused, and serve-disk prints the reason.
    """
    with serving(tmp_path / "other", "--disk", str(home.work / "line.toml"), *SMALL) as served:
        line = next(one for one in served.said.splitlines() if "-drive" in one)
        drive = line.split("-drive ")[1].split()[0].replace("if=virtio", "if=none")
        counts = ["-icount", "shift=1,sleep=off"] if clock == "virtual" else []
        done = subprocess.run(
            [*QEMU, *counts, "-drive", drive],
            input="quit\n",
            capture_output=True,
            text=True,
            check=False,
        )
        served.end()
    assert (done.returncode == 0) == (clock == "wall"), done.stderr
    assert (VIRTUAL in served.said) == (clock == "virtual")
    assert ("the throttle" in served.said) == (clock == "virtual")


def test_the_line_for_fio_measures_it(home: Home, tmp_path: Path) -> None:
    """The printed command is run as it is."""
    with serving(tmp_path / "other", "--disk", str(home.work / "line.toml"), *SMALL) as served:
        line = next(one for one in served.said.splitlines() if one.strip().startswith("fio "))
        done = subprocess.run(
            line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert served.end()["requests"] == 1000


def limit_files() -> None:
    """Limit each file to 300,000 bytes, which is room for 3,750 records.

    The disk's data, which are a file, too, need most of that.
    """
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))


def test_no_room_for_records(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is served to the end, and the report says that records were cut off."""
    (home.work / "fast.toml").write_text(LINE.replace("0.4", "0.000001").replace("3.0", "0"))
    limited: Callable[..., subprocess.Popen[str]] = subprocess.Popen
    monkeypatch.setattr(
        subprocess,
        "Popen",
        lambda *words, **rest: limited(*words, **rest, preexec_fn=limit_files),
    )
    served = Served(home, "--disk", "fast.toml", *SMALL)
    monkeypatch.undo()
    served.wait_until_ready()
    with served.client() as client:
        client.ask_all(Request(READ, 0, 512) for _ in range(5000))
    report = served.end()
    assert report["requests"] == 5000
    assert "--records: File too large; records are cut off" in served.said
    assert len(served.rows()) == 3750
    assert json.dumps(report)
