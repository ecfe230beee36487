# SPDX-License-Identifier: MIT
"""Job files of fio in the simulator: each option means what it means to fio, or is refused."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from understudy_devices.ask import fio_jobs
from understudy_devices.ask.fio_jobs import JobFile
from understudy_devices.base.errors import UserError

DISK = 1_000_000  # sectors

MIXED = """
; as people have them
[global]
ioengine=libaio
direct=1
bs=4k
group_reporting

[scan]
rw=read
blocksize=64k
offset=10m
size=1m

[points]
readwrite=randrw
rwmixread=70
numjobs=2
iodepth=3
thinktime=2ms
"""


def job(*lines: str) -> JobFile:
    return JobFile("jobs.fio", "\n".join(["[one]", "direct=1", *lines]))


def test_jobs_are_processes() -> None:
    processes = fio_jobs.processes(JobFile("jobs.fio", MIXED), DISK)
    scan, *points = processes
    assert (scan.random, scan.reads_percent, scan.sectors) == (False, 100, 128)
    assert (scan.first, scan.room, scan.think_ns) == (20_480, 2_048, 0)
    assert len(points) == 6
    assert {(one.random, one.reads_percent, one.sectors) for one in points} == {(True, 70, 8)}
    assert {(one.first, one.room, one.think_ns) for one in points} == {(0, DISK, 2_000_000)}


def test_an_engine_without_a_queue_has_one_request_at_a_time() -> None:
    """The engine psync, fio's default, ignores `iodepth`."""
    for engine, processes in ((), 1), (("ioengine=psync",), 1), (("ioengine=io_uring",), 8):
        jobs = fio_jobs.processes(job("rw=randread", "iodepth=8", *engine), DISK)
        assert len(jobs) == processes


def test_steps_are_where_the_job_says() -> None:
    rows = fio_jobs.rows(fio_jobs.processes(JobFile("jobs.fio", MIXED), DISK), 1, 2000)
    assert rows.first.tolist() == [2000 * number for number in range(8)]
    scan = rows.sector[:2000]
    assert scan[:3].tolist() == [20_480, 20_608, 20_736]
    assert scan[16] == 20_480  # round and round
    points = rows.sector[2000:]
    assert (points % 8 == 0).all()
    assert 0 <= points.min() < 1000
    assert DISK - 1000 < points.max() <= DISK - 8
    assert abs(np.mean(rows.op[2000:] == 0) - 0.7) < 0.02
    again = fio_jobs.rows(fio_jobs.processes(JobFile("jobs.fio", MIXED), DISK), 1, 2000)
    assert (again.sector == rows.sector).all()
    other = fio_jobs.rows(fio_jobs.processes(JobFile("jobs.fio", MIXED), DISK), 2, 2000)
    assert (other.sector[2000:] != points).any()


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (("rw=trim",), "the simulator does not know rw=trim"),
        (("verify=crc32c",), "the simulator does not know verify"),
        (("stonewall",), "the simulator does not know stonewall"),
        (("direct=0",), "add direct=1"),
        (("bs=4k,8k",), "read bs=4k,8k as a size"),
        (("bs=100",), "bs=100 is not a whole number of sectors"),
        (("bs=many",), "read bs=many as a size"),
        (("rw=read", "iodepth=8", "ioengine=libaio"), "sequential job with iodepth=8"),
        (("iodepth=-1", "ioengine=libaio"), "read iodepth=-1 as a number"),
        (("iodepth=0", "ioengine=libaio"), "iodepth=0 must be at least 1"),
        (("numjobs=0",), "numjobs=0 must be at least 1"),
        (("ioengine=mmap",), "does not know ioengine=mmap"),
        (("iodepth_batch=4",), "does not know iodepth_batch"),
        (("thinktime=soon",), "read thinktime=soon as a time"),
        (("thinktime_blocks=4",), "only thinktime_blocks=1"),
        (("offset=90%", "bs=1g"), "does not fit on the disk"),
        (("offset=200%",), "does not fit on the disk"),
        (("numjobs=5000", "rw=randread"), "over 1000"),
    ],
)
def test_what_it_does_not_know_is_refused_by_name(lines: tuple[str, ...], words: str) -> None:
    with pytest.raises(UserError, match=r"jobs\.fio") as error:
        fio_jobs.processes(job(*lines), DISK)
    assert words in str(error.value)


@pytest.mark.parametrize("text", ["", "direct=1\n", "[global]\nbs=4k\n", "[one\n", "\0\n"])
def test_what_is_no_job_file_is_refused(text: str) -> None:
    with pytest.raises(UserError, match=r"jobs\.fio"):
        JobFile("jobs.fio", text).jobs()


def test_the_real_fio_takes_what_it_is_given(tmp_path: Path) -> None:
    """fio must accept our rewritten job file, which names a file in place of the disk."""
    disk = tmp_path / "disk"
    disk.write_bytes(b"x" * 2**24)
    jobs = tmp_path / "jobs.fio"
    jobs.write_text(JobFile("jobs.fio", MIXED.replace("10m", "1m")).on_device(str(disk)))
    done = subprocess.run(
        ["fio", "--parse-only", str(jobs)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_command_takes_it(tmp_path: Path) -> None:
    (tmp_path / "jobs.fio").write_text(MIXED)
    words = ("predict", "--requests", "300", "--schedulers", "look", "--out", "out")
    for file, code, words_shown in (
        ("./jobs.fio", 0, "./jobs.fio"),
        ("./gone.fio", 2, "No such file or directory"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "understudy_devices", *words, "--workload", file],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == code, done.stderr
        assert words_shown in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
