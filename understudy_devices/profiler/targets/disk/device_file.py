# SPDX-License-Identifier: MIT
"""A block device or an image file as a target, without the page cache (O_DIRECT).

Since this target can't always send a request at the requested time, `sent_ns` has the true time.
The target's clock begins at 0 when it is opened.  Files that can't be measured, or that are in use,
are refused before anything is read.
"""

import errno
import os
import select
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.profiler.targets.bench import NS_PER_S, SMALLEST_SECTORS
from understudy_devices.profiler.targets.disk import in_use, sender

SECTOR_BYTES = 512
GIVEN_UP_S = 60.0
LISTED = "lsblk lists the disks"
KINDS: dict[Callable[[int], bool], str] = {
    stat.S_ISDIR: "is a folder",
    stat.S_ISFIFO: "is a pipe",
    stat.S_ISSOCK: "is a socket",
    stat.S_ISCHR: "is a character device",
}
CANT_OPEN = {
    errno.EBUSY: "is in use by something that can't be seen from here; end it first",
    errno.EACCES: "no permission; be root, or in the group of its file",
    errno.EPERM: "no permission; be root, or in the group of its file",
    errno.EINVAL: "its file system has no O_DIRECT; put the image on another one",
    errno.EROFS: "is read-only; leave --destroy-data out",
    errno.ENOMEDIUM: "there is no medium in it; put one in",
    errno.ENXIO: f"there is nothing behind it; {LISTED}",
    errno.ENODEV: f"there is nothing behind it; {LISTED}",
}


class Disk:
    """An open disk, and the process that reads and writes it."""

    def __init__(self, path: Path, *, destroy_data: bool = False) -> None:
        """Open the disk, for writing only with `destroy_data`; raise UserError if that is
        impossible.
        """
        self._path = path
        kind = _checked(path)
        self.writable = _is_writable(path, kind)
        if destroy_data and not self.writable:
            _refuse(path, "is read-only; leave --destroy-data out")
        self._descriptor = _opened(path, kind, destroy_data)
        self._bytes = os.lseek(self._descriptor, 0, os.SEEK_END)
        self._sender: subprocess.Popen[bytes] | None = None
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        if self.capacity_sectors < SMALLEST_SECTORS:
            _refuse(
                self._path,
                f"{self.capacity_sectors} sectors are too few to profile, at least "
                f"{SMALLEST_SECTORS}; name a larger disk",
            )
        self._sender = subprocess.Popen(
            [sys.executable, "-I", "-S", sender.__file__, str(self._descriptor)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            pass_fds=[self._descriptor],
        )
        self._origin_ns = sender.now_ns()
        self.sent_ns = 0
        self._wake()

    def _wake(self) -> None:
        """Spin up a stopped disk with a first, untimed read."""
        failed, *_ = self._answer("read", 1, 1, 0)
        if failed == errno.EINVAL:
            _refuse(
                self._path,
                "takes no request of 512 bytes, and probes ask for single sectors; record a trace "
                "of it and give --trace",
            )
        self.request("read", 0, 1, 0)

    def __enter__(self) -> "Disk":
        """Return the disk itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the disk."""
        self.close()

    def close(self) -> None:
        """Close the disk; do not wait for a sender that the disk still blocks."""
        if self._sender:
            self._sender.kill()
            for pipe in (self._sender.stdin, self._sender.stdout):
                assert pipe
                pipe.close()
            with suppress(subprocess.TimeoutExpired):
                self._sender.wait(1)
        os.close(self._descriptor)

    @property
    def descriptor(self) -> int:
        """Return a file descriptor for callers that read the disk's identifying data."""
        return self._descriptor

    @property
    def capacity_sectors(self) -> int:
        """Return the capacity in sectors by the disk's latest report."""
        return self._bytes // SECTOR_BYTES

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """Send a request at `at_ns`, or as soon after as this machine can; return the completion
        time, ns.
        """
        what = f"{op} of {sectors} sectors at sector {sector}"
        before = self.capacity_sectors
        failed, done, sent_ns, completed_ns = self._answer(op, sector, sectors, at_ns)
        if self.capacity_sectors != before:
            self._fail(f"{what}: it had {before} sectors, now {self.capacity_sectors}; is it gone?")
        if failed or done != sectors * SECTOR_BYTES:
            at = sector + done // SECTOR_BYTES
            reason = os.strerror(failed) if failed else f"nothing came from sector {at} on"
            self._fail(f"{what}: {reason}; see dmesg, and save what is on the disk")
        self.sent_ns = sent_ns - self._origin_ns
        return completed_ns - self._origin_ns

    def _answer(self, op: str, sector: int, sectors: int, at_ns: int) -> tuple[int, int, int, int]:
        """Send a request; return error number, bytes done, and times of sending and completion on
        the sender's clock, ns.
        """
        assert self._sender
        assert self._sender.stdin
        assert self._sender.stdout
        place, size = sector * SECTOR_BYTES, sectors * SECTOR_BYTES
        at_ns += self._origin_ns
        patience_s = GIVEN_UP_S + max(0, at_ns - sender.now_ns()) / NS_PER_S
        what = f"{op} of {sectors} sectors at sector {sector}"
        answer = b""
        try:
            self._sender.stdin.write(sender.ASK.pack(op == "write", place, size, at_ns))
            if not select.select([self._sender.stdout], [], [], patience_s)[0]:
                self._fail(f"{what}: no answer for {GIVEN_UP_S:.0f} s, given up; see dmesg")
            answer = self._sender.stdout.read(sender.ANSWER.size) or b""
        except BrokenPipeError:
            pass
        if len(answer) != sender.ANSWER.size:
            self._fail(f"{what}: the process that sends requests was killed; is there memory?")
        failed, done, sent_ns, completed_ns, self._bytes = sender.ANSWER.unpack(answer)
        return failed, done, sent_ns, completed_ns

    def _fail(self, why: str) -> NoReturn:
        raise RunFailed(f"--device: {self._path}: {why}")


def _checked(path: Path) -> os.stat_result:
    """Return the file's status; refuse a file that can't be measured or is in use."""
    try:
        status = path.stat()
    except OSError as error:
        _refuse(path, f"{error.strerror}; {LISTED}")
    for is_so, words in KINDS.items():
        if is_so(status.st_mode):
            _refuse(path, f"{words}; name a disk or an image file: {LISTED}")
    if stat.S_ISBLK(status.st_mode):
        if disk := in_use.whole(status.st_rdev):
            _refuse(path, f"is a partition; take the whole disk, /dev/{disk}")
        user = in_use.of_disk(status.st_rdev)
    else:
        if kind := in_use.in_memory(path):
            _refuse(path, f"is in memory ({kind}); put the image on a disk")
        user = in_use.of_file(path)
    if user:
        _refuse(path, user)
    return status


def _is_writable(path: Path, kind: os.stat_result) -> bool:
    if stat.S_ISBLK(kind.st_mode):
        flag = in_use.SYS / "dev" / "block" / in_use.number(kind.st_rdev) / "ro"
        with suppress(OSError):
            if flag.read_text().strip() == "1":
                return False
    return os.access(path, os.W_OK)


def _opened(path: Path, kind: os.stat_result, destroy_data: bool) -> int:
    how = os.O_DIRECT | os.O_CLOEXEC | (os.O_RDWR if destroy_data else os.O_RDONLY)
    if stat.S_ISBLK(kind.st_mode):
        how |= os.O_EXCL
    try:
        return os.open(path, how)
    except OSError as error:
        _refuse(path, CANT_OPEN.get(error.errno or 0, f"{error.strerror}; {LISTED}"))


def _refuse(path: Path, why: str) -> NoReturn:
    raise UserError(f"--device: {path}: {why}")
