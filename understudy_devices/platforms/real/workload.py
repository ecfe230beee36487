# SPDX-License-Identifier: MIT
"""Plays a workload on a disk of this machine, with the same program as in a VM.

A workload's files are in a file system that only the program can see, and that is unmounted when
the program ends.
"""

import select
import shlex
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from understudy_devices.ask.experiment import Experiment
from understudy_devices.ask.workloads.surge import KEPT_FILES_MAX
from understudy_devices.base import scratch
from understudy_devices.base.errors import RunFailed
from understudy_devices.base.programs import compiled
from understudy_devices.base.progress import Report, silent
from understudy_devices.files import image
from understudy_devices.platforms import guest_programs, reads
from understudy_devices.platforms.real import group
from understudy_devices.platforms.real.disk import Disk

READY_SECONDS = 600.0
END_SECONDS = 60.0
LOG_AFTER = 1_000_000  # reads before the end of the measurement is noticed
MOUNTED = """\
mount -t ext4 -o ro {disk} {folder} || exit 1
{look_up}
exec {workload}
"""


class Workload:
    """The program, ready to begin."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        """Start the program."""
        self._log = log
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        assert self._process.stdin
        assert self._process.stdout
        self._input, self._output = self._process.stdin, self._process.stdout

    def wait_until_ready(self) -> None:
        """Wait until all processes of the program are ready."""
        if not select.select([self._output], [], [], READY_SECONDS)[0]:
            raise RunFailed(f"the workload was not ready within {READY_SECONDS:.0f} s")
        if self._output.readline() != b"ready\n":
            self._process.wait()
            raise RunFailed(f"the workload did not start: {self._complaint()}")

    def go(self) -> None:
        """Let the processes begin."""
        try:
            self._input.write(b"\n")
        except BrokenPipeError:
            self._process.wait()
            self.check()

    def check(self) -> None:
        """Raise RunFailed if the program has ended."""
        if self._process.poll() is not None:
            raise RunFailed(f"the workload failed: {self._complaint()}")

    def end(self) -> reads.Entries:
        """Tell the program to end, wait until each process's last request is complete, and return
        the processes' log.
        """
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise RunFailed("a request did not complete within a minute; see dmesg") from error
        entries = reads.read_log(self._log)
        failed = entries[entries["result"] < 0]
        if len(failed):
            raise RunFailed(
                f"{len(failed):,} of {len(entries):,} requests failed: the first with errno "
                f"{-failed['result'][0]}; see dmesg"
            )
        return entries

    def close(self) -> None:
        """Kill the program with all its processes, except those that the disk blocks."""
        self._process.kill()
        for pipe in (self._input, self._output, self._process.stderr):
            assert pipe
            pipe.close()

    def _complaint(self) -> str:
        assert self._process.stderr
        lines = self._process.stderr.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it printed nothing"


def build(experiment: Experiment, report: Report) -> None:
    """Compile the workload's programs, and build its file system."""
    compiled(guest_programs.program(_program(experiment)))
    if experiment.workload.reads_files:
        compiled(guest_programs.program("restore"))
        image.build(experiment.device.virtual_bytes, report)


def make_files(experiment: Experiment, disk: Disk) -> None:
    """Write the workload's file system to the disk, which overwrites the disk's data."""
    blocks = image.build(experiment.device.virtual_bytes, silent).blocks
    program = compiled(guest_programs.program("restore"))
    done = subprocess.run([program, blocks, disk.path], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunFailed(f"no file system on {disk.path}: {done.stderr.strip()}")


@contextmanager
def ready(experiment: Experiment, disk: Disk) -> Iterator[Workload]:
    """Start the program and wait until it is ready; kill it at the end of the `with` block."""
    with ExitStack() as held:
        folder = held.enter_context(scratch.folder("understudy-real-"))
        cache = experiment.workload.cache(experiment.device.virtual_bytes)
        bounded = held.enter_context(group.bounded(disk.name, cache.bytes)) if cache else Path()
        log, files = folder / "reads.bin", folder / "files"
        files.mkdir()
        workload = Workload(command(experiment, disk, files, bounded, log), log)
        try:
            workload.wait_until_ready()
            yield workload
        finally:
            workload.close()


def command(experiment: Experiment, disk: Disk, files: Path, bounded: Path, log: Path) -> list[str]:
    """Return the command that starts the program, with its files and control group if needed."""
    around = replace(
        experiment.around, device=str(disk.path), folder=str(files), group=str(bounded)
    )
    version = experiment.workload.in_guest(around)
    _, *words = version.command
    program = str(compiled(guest_programs.program(_program(experiment))))
    most = version.reads_a_request * experiment.requests + LOG_AFTER
    words += ["--processes", str(experiment.workload.processes), "--seed", str(experiment.seed)]
    words += ["--log", str(log), "--log-max", str(most)]
    if not experiment.workload.reads_files:
        return [program, *words]
    return ["unshare", "--mount", "sh", "-c", _mounted([program, *words], disk, files, experiment)]


def _program(experiment: Experiment) -> str:
    return experiment.workload.in_guest(experiment.around).command[0]


def _mounted(words: Sequence[str], disk: Disk, folder: Path, experiment: Experiment) -> str:
    """Return a shell command that mounts the files and runs the command `words`. If the files are
    few, their inodes are loaded first.
    """
    count = image.file_count(experiment.device.virtual_bytes)
    look_up = [words[0], "--dir", str(folder), "--files", str(count), "--look-up"]
    few = count <= KEPT_FILES_MAX
    return MOUNTED.format(
        disk=shlex.quote(str(disk.path)),
        folder=shlex.quote(str(folder)),
        look_up=f"{shlex.join(look_up)} || exit 1" if few else ":",
        workload=shlex.join(words),
    )
