# SPDX-License-Identifier: MIT
"""The guest's programs, run on the host on real files, without a VM."""

import os
import signal
import struct
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playing import FILES, GENEROUS, PAGE, Log, Play, by_owner, make_files, play, program, surge

from understudy_devices.base import programs
from understudy_devices.base.errors import RunFailed
from understudy_devices.base.paths import cache_dir
from understudy_devices.platforms import guest_programs, reads


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder of files of various sizes."""
    top = tmp_path_factory.mktemp("files")
    make_files(top)
    return top


def same_start(one: Log, two: Log) -> bool:
    """Return whether two logs have the same reads, up to the end of the shorter log."""
    n = min(len(one), len(two))
    assert n > 20
    return all((one[field][:n] == two[field][:n]).all() for field in ("offset", "result"))


# surge.


def test_surge_reads_every_file_page_by_page(folder: Path, tmp_path: Path) -> None:
    """Check that the pages of a file follow one another up to the last, partial page."""
    entries = surge(folder, tmp_path / "log", 2000, processes=1, think_scale_milli=0)
    index = (entries["offset"] >> 32).astype(np.int64)
    byte = (entries["offset"] & 0xFFFFFFFF).astype(np.int64)
    size = index * 131
    assert (entries["result"] == np.minimum(PAGE, size - byte)).all()
    last = byte + PAGE >= size
    assert (byte[1:][last[:-1]] == 0).all()
    assert (byte[1:][~last[:-1]] == byte[:-1][~last[:-1]] + PAGE).all()
    assert (index[1:][~last[:-1]] == index[:-1][~last[:-1]]).all()
    assert (entries["end_ns"] >= entries["start_ns"]).all()
    assert (entries["start_ns"][1:] >= entries["end_ns"][:-1]).all()


def test_surge_draws_depend_on_nothing_but_seed_and_process(folder: Path, tmp_path: Path) -> None:
    """Check that neither think times nor other processes change what a process reads."""
    few = by_owner(surge(folder, tmp_path / "few", 500, processes=2, think_scale_milli=0))
    many = by_owner(surge(folder, tmp_path / "many", 500, processes=6, think_scale_milli=1))
    other = by_owner(
        surge(folder, tmp_path / "other", 500, processes=2, seed=2, think_scale_milli=0)
    )
    assert len(many) == 6
    assert same_start(few[0], many[0])
    assert same_start(few[1], many[1])
    assert not same_start(few[0], few[1])
    assert not same_start(few[0], other[0])


def test_a_rehearsal_changes_nothing_in_the_run(folder: Path, tmp_path: Path) -> None:
    """Check that the random numbers start again after the rehearsal."""
    plain = surge(folder, tmp_path / "plain", 500, processes=1, think_scale_milli=0)
    warm = surge(folder, tmp_path / "warm", 500, processes=1, think_scale_milli=0, rehearse=500)
    assert same_start(plain, warm)


def test_surge_goes_on_after_an_error(folder: Path, tmp_path: Path) -> None:
    """Check that reads of missing files are logged as errors."""
    workload = Play(
        program("surge"), "--dir", folder, "--files", 10**6, "--processes", 3,
        "--think-scale-milli", 10, "--log", tmp_path / "log",
    )  # fmt: skip
    workload.go()
    workload.until(100)
    code, stdout, stderr = workload.end()
    entries = reads.read_log(tmp_path / "log")
    assert (code, stderr) == (0, "")
    assert len(entries) > 100
    missing = int((entries["result"] == -2).sum())
    assert missing > len(entries) / 2
    assert stdout == f"done {len(entries)} {missing} 0\n"


# Beginning and end.


def test_nothing_is_read_before_the_word_go(folder: Path, tmp_path: Path) -> None:
    """Check that all processes wait for "go", and that they end without a read when stopped."""
    workload = Play(
        program("surge"), "--dir", folder, "--files", FILES, "--processes", 4,
        "--log", tmp_path / "log",
    )  # fmt: skip
    assert workload.ready == "ready\n"
    time.sleep(0.2)
    assert len(workload.children()) == 4
    assert workload.end() == (0, "done 0 0 0\n", "")
    assert len(reads.read_log(tmp_path / "log")) == 0


def test_the_end_of_the_input_is_a_go_too(folder: Path, tmp_path: Path) -> None:
    workload = Play(program("surge"), "--dir", folder, "--files", FILES, "--log", tmp_path / "log")
    assert workload.process.stdin is not None
    workload.process.stdin.close()
    workload.until(20)
    workload.process.stdin = None
    assert workload.end(signal.SIGINT)[0] == 0
    owners = Counter(reads.read_log(tmp_path / "log")["owner"].tolist())
    assert len(owners) == 50


def test_a_process_that_dies_fails_the_run(folder: Path, tmp_path: Path) -> None:
    """Check that the parent names the process, ends the others and still writes the log."""
    workload = Play(
        program("surge"), "--dir", folder, "--files", FILES, "--processes", 5,
        "--log", tmp_path / "log",
    )  # fmt: skip
    workload.go()
    workload.until(10)
    children = workload.children()
    os.kill(children[2], signal.SIGKILL)
    stdout, stderr = workload.process.communicate(timeout=GENEROUS)
    assert workload.process.returncode == 1
    assert stderr == f"process {children[2]} was killed by signal 9\n"
    assert len(reads.read_log(tmp_path / "log")) > 0
    assert stdout.startswith("done ")
    assert not any(Path(f"/proc/{pid}").exists() for pid in children)


def test_no_process_outlives_the_parent(folder: Path) -> None:
    """Check that the children end after SIGKILL to the parent."""
    workload = Play(program("surge"), "--dir", folder, "--files", FILES, "--processes", 5)
    workload.go()
    children = workload.children()
    workload.end(signal.SIGKILL)
    deadline = time.monotonic() + GENEROUS
    while any(_runs(pid) for pid in children):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_full_log_fails_and_says_how_much_is_missing(folder: Path, tmp_path: Path) -> None:
    workload = Play(
        program("surge"), "--dir", folder, "--files", FILES, "--processes", 2,
        "--think-scale-milli", 0, "--log", tmp_path / "log", "--log-max", 30,
    )  # fmt: skip
    workload.go()
    workload.until(100)
    code, stdout, stderr = workload.end()
    assert code == 1
    lost = int(stdout.split()[3])
    assert lost > 0
    assert f"{lost} reads are not in it: raise --log-max" in stderr
    assert len(reads.read_log(tmp_path / "log")) == 30


def test_a_log_that_cannot_be_written_fails(folder: Path, tmp_path: Path) -> None:
    """Check that the error names the file and the reason."""
    target = tmp_path / "missing" / "log"
    workload = Play(program("surge"), "--dir", folder, "--files", FILES, "--log", target)
    code, _, stderr = workload.end()
    assert (code, stderr) == (1, f"{target}: No such file or directory (errno 2)\n")


def test_a_group_that_cannot_be_joined_fails(folder: Path, tmp_path: Path) -> None:
    """Check that the program does not start if it can't join its control group."""
    workload = Play(
        program("surge"), "--dir", folder, "--files", FILES, "--processes", 1,
        "--cgroup", tmp_path / "none",
    )  # fmt: skip
    _, stderr = workload.process.communicate(timeout=GENEROUS)
    assert workload.ready != "ready\n"
    assert workload.process.returncode == 1
    assert "none/cgroup.procs: No such file or directory" in stderr


# random.


@pytest.fixture
def disk() -> Iterator[Path]:
    """Make a file that stands in for a disk, on a file system with O_DIRECT (not a tmpfs)."""
    with tempfile.TemporaryDirectory(dir=cache_dir()) as folder:
        path = Path(folder) / "disk"
        path.write_bytes(b"x" * (64 * PAGE + 100))
        yield path


def test_random_covers_the_disk_in_whole_pages(disk: Path, tmp_path: Path) -> None:
    """Check offsets and results, and that the disk is unchanged."""
    before = disk.read_bytes()
    entries = play(tmp_path / "log", 1000, program("random"), "--device", disk)
    assert (entries["result"] == PAGE).all()
    assert set(entries["offset"].tolist()) == {page * PAGE for page in range(64)}
    assert disk.read_bytes() == before


def test_random_writes_the_share_that_was_asked_for(disk: Path, tmp_path: Path) -> None:
    """Check that the log marks writes, and that --writes does not change the offsets."""
    command = (program("random"), "--device", disk, "--think-us", 10)
    mixed = play(tmp_path / "mixed", 8000, *command, "--writes", 30)
    plain = play(tmp_path / "plain", 4000, *command)
    assert (mixed["result"] == PAGE).all()
    assert (mixed["offset"] & 1).mean() == pytest.approx(0.3, abs=0.05)
    n = min(len(mixed), len(plain))
    assert (mixed["offset"][:n] & ~np.uint64(1) == plain["offset"][:n]).all()
    left = disk.read_bytes()
    for page in np.unique(mixed["offset"][mixed["offset"] & 1 == 1] - np.uint64(1)).tolist():
        assert left[page : page + PAGE] == bytes(PAGE)


def test_random_goes_on_after_an_error(disk: Path, tmp_path: Path) -> None:
    """Check reads from beyond the end of a disk that has shrunk."""
    workload = Play(
        program("random"), "--device", disk, "--log", tmp_path / "log", "--think-us", 100
    )
    os.truncate(disk, 32 * PAGE)
    workload.go()
    workload.until(200)
    assert workload.end()[0] == 0
    assert set(np.unique(reads.read_log(tmp_path / "log")["result"])) == {0, PAGE}


def test_random_refuses_what_is_no_disk(tmp_path: Path) -> None:
    """Check a missing device and one smaller than a page."""
    (tmp_path / "tiny").write_bytes(b"x")
    for name, message in (("missing", "No such file"), ("tiny", "")):
        done = run("random", "--device", tmp_path / name)
        assert done.returncode == 1
        assert done.stderr.startswith(str(tmp_path / name))
        assert message in done.stderr


# restore, drain, port and options.


def run(name: str, *words: str | Path | int) -> "subprocess.CompletedProcess[str]":
    """Run a guest program to its end."""
    command = [str(word) for word in (program(name), *words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=GENEROUS)


def blocks_file(numbers: Sequence[int], image_blocks: int = 100, **broken: Any) -> bytes:
    """Return a compact image, built by hand; block n is filled with the byte n."""
    header = struct.pack(
        "<8sQQ",
        broken.get("magic", b"USBLOCK1"),
        image_blocks * PAGE,
        broken.get("count", len(numbers)),
    )
    body = b"".join(bytes([number]) * PAGE for number in numbers)
    return header + struct.pack(f"<{len(numbers)}Q", *numbers) + body


def test_restore_writes_the_blocks_and_nothing_else(tmp_path: Path) -> None:
    """Check adjacent blocks, gaps, the first and the last block."""
    numbers = [0, 1, 2, 50, 52, 98, 99]
    (tmp_path / "blocks").write_bytes(blocks_file(numbers))
    (tmp_path / "disk").write_bytes(b"\xff" * 101 * PAGE)
    done = run("restore", tmp_path / "blocks", tmp_path / "disk")
    assert (done.returncode, done.stdout, done.stderr) == (0, "7\n", "")
    disk = (tmp_path / "disk").read_bytes()
    for block in range(101):
        expected = block if block in numbers else 0xFF
        assert disk[block * PAGE : (block + 1) * PAGE] == bytes([expected]) * PAGE


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a file of blocks"),
        (blocks_file([1, 2], magic=b"USBLOCK2"), "not a file of blocks"),
        (blocks_file([1, 2])[:-1], "cut off"),
        (blocks_file([1, 2]) + b"x", "cut off"),
        (blocks_file([1, 2], count=2**61), "cut off"),
        (blocks_file([1, 100]), "beyond the end"),
        (blocks_file([2, 1]), "not in ascending order"),
        (blocks_file([2, 2]), "not in ascending order"),
        (blocks_file([1], image_blocks=102), "holds 413696 bytes, the image needs 417792"),
    ],
)
def test_restore_checks_all_before_it_writes(tmp_path: Path, content: bytes, message: str) -> None:
    """Check that a bad file leaves the disk unchanged."""
    before = b"\xff" * 101 * PAGE
    (tmp_path / "blocks").write_bytes(content)
    (tmp_path / "disk").write_bytes(before)
    done = run("restore", tmp_path / "blocks", tmp_path / "disk")
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert (tmp_path / "disk").read_bytes() == before


@pytest.mark.parametrize(
    "command",
    [
        ("surge",),
        ("surge", "--dir", "/"),
        ("surge", "--dir", "/", "--files", "0"),
        ("surge", "--dir", "/", "--files", "1x"),
        ("surge", "--dir", "/", "--files", "-1"),
        ("surge", "--dir", "/", "--files", ""),
        ("surge", "--dir", "/", "--files", "1", "--processes", "0"),
        ("surge", "--dir", "/", "--files", "1", "--seed", "18446744073709551616"),
        ("surge", "--dir", "/", "--files", "1", "stray"),
        ("surge", "--dir", "/nowhere", "--files", "1"),
        ("random",),
        ("random", "--device", "/dev/null", "--writes", "101"),
        ("restore", "one"),
        ("port",),
        ("port", "exit", "128"),
        ("port", "exit", "x"),
        ("port", "shout", "text"),
        ("serve",),
        ("serve", "/dev/null", "stray"),
    ],
)
def test_wrong_use_is_exit_code_2(command: tuple[str, ...]) -> None:
    """Check that the program prints an error and does not start."""
    done = run(*command)
    assert done.returncode == 2
    assert done.stderr
    assert done.stdout == ""


def test_serve_needs_a_disk() -> None:
    done = run("serve", "/nowhere")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "/nowhere: No such file or directory (errno 2)\n"


# Building, and reading a log.


def test_drain_takes_what_is_there_and_waits_for_no_more(tmp_path: Path) -> None:
    """Check two pipes whose writers stay open."""
    pipes = [tmp_path / "one", tmp_path / "other"]
    with ExitStack() as open_pipes:
        for number, pipe in enumerate(pipes):
            os.mkfifo(pipe)
            writer = os.open(pipe, os.O_RDWR)
            open_pipes.callback(os.close, writer)
            os.write(writer, bytes([65 + number]) * 5000)
        done = run("drain", *pipes)
    assert (done.returncode, done.stdout) == (0, "A" * 5000 + "B" * 5000)


@pytest.mark.parametrize("words", [(), ("/nowhere",), ("/dev/null", "/nowhere"), ("/",)])
def test_drain_says_what_it_cannot_read(words: tuple[str, ...]) -> None:
    """Check the error message and the exit code."""
    done = run("drain", *words)
    messages = {(): "drain FILE...", ("/",): "/: Is a directory (errno 21)"}
    expected = messages.get(words, "/nowhere: No such file or directory (errno 2)")
    assert (done.returncode, done.stderr) == (1 if words else 2, expected + "\n")


INTERPRETER = 3


def segment_types(elf: bytes) -> list[int]:
    """List the types of a 64-bit ELF file's program headers."""
    (table,) = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    return [struct.unpack_from("<I", elf, table + size * index)[0] for index in range(count)]


def test_all_programs_are_static() -> None:
    """Check that the guest needs no libraries."""
    paths = {entry.name: programs.compiled(entry) for entry in guest_programs.of_every_guest()}
    assert set(paths) == {"surge", "random", "steps", "restore", "drain", "port", "wire"}
    for path in paths.values():
        assert os.access(path, os.X_OK)
        assert INTERPRETER not in segment_types(path.read_bytes())


def test_a_compile_error_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that the user sees the compiler's message, and that nothing is cached."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "broken.c").write_text("int main(void) { return nothing; }\n")
    broken = programs.Program("broken", (str(tmp_path / "broken.c"),))
    with pytest.raises(RunFailed, match="nothing"):
        programs.compiled(broken)
    assert list((tmp_path / "understudy" / "programs").glob("[!.]*")) == []


def test_a_source_that_changes_while_a_command_runs_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the cached program comes from the old source, which its name is computed from."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "answer.c"
    source.write_text("int main(void) { return 3; }\n")
    answer = programs.Program("answer", (str(source),))
    programs.content(answer)
    source.write_text("int main(void) { return 4; }\n")
    assert subprocess.run([programs.compiled(answer)], check=False).returncode == 3


def test_a_changed_source_is_compiled_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that the cache key depends on the content of source and headers."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source, header = tmp_path / "answer.c", tmp_path / "answer.h"
    source.write_text('#include "answer.h"\nint main(void) { return ANSWER; }\n')
    answer = programs.Program("answer", (str(source),))
    for value in (3, 4, 3):
        header.write_text(f"#define ANSWER {value}\n")
        programs._source.cache_clear()  # as at the start of a new command
        done = subprocess.run([programs.compiled(answer)], check=False)
        assert done.returncode == value
    assert len(list((tmp_path / "cache" / "understudy" / "programs").glob("[!.]*"))) == 2


def test_a_generated_header_is_compiled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that a header needs no file beside the source, and that the cache key depends on it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "answer.c"
    source.write_text('#include "answer.h"\nint main(void) { return ANSWER; }\n')
    for value in (3, 4):
        generated = ((str(tmp_path / "answer.h"), f"#define ANSWER {value}\n"),)
        answer = programs.Program("answer", (str(source),), generated=generated)
        assert subprocess.run([programs.compiled(answer)], check=False).returncode == value
    assert not (tmp_path / "answer.h").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"USREADS1", "cut off in its header"),
        (b"USREADS2" + struct.pack("<II", 32, 0), "not a log of reads"),
        (b"USREADS1" + struct.pack("<II", 40, 0), "not a log of reads"),
        (b"USREADS1" + struct.pack("<II", 32, 2) + bytes(32), "2 entries announced"),
    ],
)
def test_a_broken_log_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "log").write_bytes(content)
    with pytest.raises(RunFailed, match=message):
        reads.read_log(tmp_path / "log")
