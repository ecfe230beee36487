# SPDX-License-Identifier: MIT
"""`submit` in a VM: what is received, what is refused, and what a teacher sees of it."""

import errno
import hashlib
import io
import json
import math
import os
import resource
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import lab_images
import lab_linux
import pytest
from lab_class import Class

from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import locks, receive, state_file, submissions

pytestmark = pytest.mark.thorough

RECEIVER = (sys.executable, "-P", "-m", "understudy_devices.lab.receive")


@pytest.fixture
def lab(tmp_path: Path) -> Class:
    made = Class(tmp_path)
    made.create(lab_images.guest(tmp_path))
    return made


def hand_in(folder: Path, sent: bytes, file_bytes: int | None = None) -> str:
    """Send bytes as a guest would; return the answer."""

    def limit() -> None:
        if file_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))

    done = subprocess.run(
        RECEIVER, input=sent, cwd=folder, capture_output=True, check=True, preexec_fn=limit
    )
    assert done.stdout.count(b"\n") == 1
    return done.stdout.decode()


def test_what_is_handed_in_is_listed_and_copied(lab: Class, tmp_path: Path) -> None:
    folder, before = lab.team().folder, time.time()
    sha256 = hashlib.sha256(b"hello").hexdigest()
    for number in (1, 2):
        answer = hand_in(folder, b"submit hw1 5\nhello, and more")
        assert answer == f"received hw1 number {number}, 5 bytes, SHA-256 {sha256}\n"
    hand_in(lab.team("team02").folder, b"submit hw2 3\none")
    listed = json.loads(lab.do("submissions", "--json"))["submissions"]
    words = [(each["team"], each["assignment"], each["number"]) for each in listed]
    assert words == [("team01", "hw1", 1), ("team01", "hw1", 2), ("team02", "hw2", 1)]
    assert all(before <= each["seconds"] <= time.time() for each in listed)
    assert "hw2" not in lab.do("submissions", "--team", "team01")

    target = tmp_path / "copied"
    lab.do("submissions", "--copy", str(target))
    assert (target / "team01" / "hw1-2.tar.gz").read_bytes() == b"hello"
    modes = {each.stat().st_mode & 0o777 for each in target.rglob("*") if each.is_file()}
    assert modes == {0o600}
    assert {each.stat().st_mode & 0o777 for each in (target, target / "team01")} == {0o700}
    record = json.loads((target / "team01" / "hw1-2.tar.gz.json").read_text())
    assert record == listed[1]
    last = tmp_path / "last"
    assert "hw2" not in lab.do("submissions", "--last", "hw1", "--copy", str(last))
    assert [each.name for each in last.iterdir()] == ["team01.tar.gz"]
    assert (last / "team01.tar.gz").stat().st_mode & 0o777 == 0o600
    (folder / "submissions" / "hw1-1.tar.gz").write_bytes(b"jello")
    done = lab.lab("submissions", "--copy", str(target))
    assert done.exit_code == 1
    assert "hw1-1.tar.gz: changed since it was received" in done.stderr


def test_a_copy_to_grade_has_one_assignment(lab: Class, tmp_path: Path) -> None:
    """An archive of the folder says only whose it is."""
    for team, assignment in (("team01", "hw1"), ("team01", "hw2"), ("team02", "hw1")):
        hand_in(lab.team(team).folder, f"submit {assignment} 5\nhello".encode())
    target, every = tmp_path / "graded", tmp_path / "every"
    target.mkdir()
    lab.do("submissions", "--last", "hw1", "--copy", str(target))
    lab.do("submissions", "--copy", str(every))
    lab.do("submissions", "--copy", str(every))
    for folder, options in (
        (target, ("--last", "hw2")),
        (target, ("--last", "hw1")),
        (every, ("--last", "hw1")),
    ):
        words = lab.refuses("submissions", *options, "--copy", str(folder))
        assert "not empty, and what is there would be graded, too: name a new folder" in words
    assert "has the copies of a --last" in lab.refuses("submissions", "--copy", str(target))
    assert sorted(each.name for each in target.iterdir()) == ["team01.tar.gz", "team02.tar.gz"]
    (tmp_path / "file").touch()
    for option in ((), ("--last", "hw1")):
        words = lab.refuses("submissions", *option, "--copy", str(tmp_path / "file"))
        assert "file: Not a directory" in words


def test_an_assignment_that_nobody_has_handed_in(lab: Class, tmp_path: Path) -> None:
    target = tmp_path / "none"
    words = ("submissions", "--last", "hw3", "--copy", str(target))
    assert "--last hw3: nobody has; handed in was nothing" in lab.refuses(*words)
    for team, assignment in (("team01", "hw2"), ("team02", "hw1")):
        hand_in(lab.team(team).folder, f"submit {assignment} 5\nhello".encode())
    assert "handed in was hw1, hw2" in lab.refuses(*words)
    assert "handed in was hw2" in lab.refuses(*words, "--team", "team01")
    assert "--last hw 3" in lab.refuses("submissions", "--last", "hw\n3")
    assert not target.exists()


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (b"", "the first line has to be: submit ASSIGNMENT BYTES"),
        (b"GET / HTTP/1.1\n", "the first line has to be"),
        (b"submit hw1 -5\nhello", "the first line has to be"),
        (b"submit hw1 5 6\n", "the first line has to be"),
        (b"\xff\x00" * 500, "the first line has to be"),
        (b"submit ../hw1 5\nhello", "name of the assignment: write 1 to 32 of a-z"),
        (b"submit hw1 0\n", "an archive may have 1 to"),
        (b"submit hw1 67108865\n", "an archive may have 1 to"),
        (b"submit hw1 6\nhello", "only 5 of 6 bytes have arrived"),
    ],
)
def test_what_is_refused(tmp_path: Path, sent: bytes, words: str) -> None:
    assert words in hand_in(tmp_path, sent)
    assert not list(tmp_path.glob("submissions/*"))


def test_without_room_nothing_is_kept(tmp_path: Path) -> None:
    sent = b"submit hw1 100000\n" + bytes(100_000)
    assert "refused: " in hand_in(tmp_path, sent, file_bytes=50_000)
    assert not list(tmp_path.glob("submissions/*"))
    assert "received hw1 number 1" in hand_in(tmp_path, sent)


def test_one_at_a_time_and_not_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a receiver that was killed has left goes with the next one."""
    place = tmp_path / receive.FOLDER
    with subprocess.Popen(
        RECEIVER, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as slow:
        assert slow.stdin
        while not (place.exists() and locks.is_folder_locked(place)):
            time.sleep(0.01)
        assert "refused: another submission is being" in hand_in(tmp_path, b"")
        slow.stdin.write(b"submit hw1 6\nhel")
        slow.stdin.flush()
        while not list(place.glob(".receiving-*")):
            time.sleep(0.01)
        assert "refused: another submission is being" in hand_in(tmp_path, b"submit hw1 1\n1")
        slow.kill()
    assert "received hw1 number 1" in hand_in(tmp_path, b"submit hw1 1\n1")
    assert not list(place.glob(".receiving-*"))
    monkeypatch.setattr(submissions, "COUNT_MAX", 1)
    with pytest.raises(RunFailed, match="1 archives are there"):
        submissions.receive(place, b"submit hw1 1\n", io.BytesIO(b"1"), 0.0)


def test_without_a_record_no_archive_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(state_file, "write", full)
    with pytest.raises(OSError, match="No space left"):
        submissions.receive(tmp_path, b"submit hw1 1\n", io.BytesIO(b"1"), 0.0)
    assert not list(tmp_path.iterdir())


def test_nothing_large_is_loaded_before_the_first_line(tmp_path: Path) -> None:
    """Nor does a guest get long for it, without which the receiver ends."""
    program = (
        "import sys\n"
        "from understudy_devices.lab import receive\n"
        "receive.LINE_SECONDS_MAX = 1\n"
        "receive._receive = lambda _: str('numpy' in sys.modules)\n"
        "receive.main()\n"
    )
    words = (sys.executable, "-P", "-c", program)
    done = subprocess.run(words, input=b"\n", cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout == b"False\n"
    with subprocess.Popen(words, cwd=tmp_path, stdin=subprocess.PIPE) as silent:
        assert silent.wait(timeout=120) == -signal.SIGALRM


def test_odd_records_are_no_submissions(lab: Class) -> None:
    place = lab.team().folder / receive.FOLDER
    place.mkdir()
    (place / "hw1-1.json").write_text('{"seconds": "now"}')
    (place / "hw1-2.json").write_text("[")
    (place / "HW-3.json").write_text("{}")
    (place / "hw1-3.json").write_text("[" * 50_000)
    (place / "hw1-4.json").symlink_to(__file__)
    os.mkfifo(place / "hw1-5.json")
    right = {"seconds": 1.5, "bytes": 5, "sha256": "0" * 64}
    wrong: list[Mapping[str, object]] = [
        *[{"seconds": value} for value in (-1.0, 2.0**33, math.nan, math.inf, 1)],
        *[{"bytes": value} for value in (0, 2**26 + 1, "5")],
        *[{"sha256": value} for value in ("0" * 63, "A" * 64, "0" * 65)],
        {"more": "0" * 2**16},
    ]
    for number, each in enumerate(wrong, 6):
        (place / f"hw1-{number}.json").write_text(json.dumps({**right, **each}))
    assert json.loads(lab.do("submissions", "--json"))["submissions"] == []
    (place / "hw1-1.json").write_text(json.dumps(right))
    (place / "hw1-1.tar.gz").symlink_to(__file__)
    (kept,) = submissions.of(lab.team())
    with pytest.raises(RunFailed, match=r"hw1-1\.tar\.gz: a link, and not a file"):
        submissions.archive(lab.team(), kept)


def test_a_folder_with_too_many_files_hides_nobody(
    lab: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "FILES_MAX", 4)
    for name in ("team01", "team02"):
        assert "received hw1" in hand_in(lab.team(name).folder, b"submit hw1 5\nhello")
    for number in range(3):
        (lab.team().folder / "submissions" / f"odd{number}").touch()
    done = lab.lab("submissions")
    assert done.exit_code == 1
    assert "team01/submissions: more than 4 files, so it is not read" in done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:]] == [["team02", "hw1"]]


def test_the_guests_program(tmp_path: Path) -> None:
    """It sends an archive of what it is told, and compares the checksum."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "answer.c").write_text("int main(void) { return 42; }\n")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(120)

        def serve() -> None:
            guest, _ = server.accept()
            with guest:
                subprocess.run(
                    RECEIVER, cwd=tmp_path, stdin=guest.fileno(), stdout=guest.fileno(), check=True
                )

        there = f"127.0.0.1/{server.getsockname()[1]}"
        program = tmp_path / "submit"
        address = f"{submissions.ADDRESS}/{submissions.PORT}"
        assert address in submissions.GUEST_PROGRAM
        program.write_text(submissions.GUEST_PROGRAM.replace(address, there))
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            done = subprocess.run(
                ["bash", program, "hw1", "work"],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            )
        finally:
            thread.join()
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("received hw1 number 1, ")
    with tarfile.open(tmp_path / "submissions" / "hw1-1.tar.gz") as archive:
        assert archive.getnames() == ["work", "work/answer.c"]
    done = subprocess.run(["bash", program], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "usage: submit ASSIGNMENT FILE..." in done.stderr


def test_a_vm_hands_in(tmp_path: Path) -> None:
    lab = Class(tmp_path)
    try:
        disk = lab_images.image(tmp_path / "linux.qcow2", b"0".ljust(10), mib=8)
        lab.create(disk, *lab_linux.options(tmp_path))
        lab.start()
        lab.wait_for("up 0")
        lab.type("s", ["received hw1 number 1, 5 bytes"])
        (each,) = submissions.of(lab.team())
        assert submissions.archive(lab.team(), each) == b"hello"
    finally:
        lab.kill()
