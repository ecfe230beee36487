# SPDX-License-Identifier: MIT
"""nbdkit in the foreground, with this project's filter, until the command is interrupted.

The disk's state and the lateness of its answers are in memory that nbdkit shares with this
process.  So nbdkit can simply be killed: it holds no data that must be saved, and no connected
client can delay its end.
"""

import os
import select
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from understudy_devices.base import scratch, sources
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.paths import ROOT
from understudy_devices.base.programs import Program, compiled
from understudy_devices.native.timed_disk import TimedDisk

PACKAGES = "nbdkit nbdkit-plugin-dev"
FIRST_LISTENER = 3  # the first descriptor in systemd's protocol, which nbdkit uses
LOADED_BEFORE = 4
LOOK_MS = 10
ACTIVATED = f'LISTEN_PID=$$ LISTEN_FDS=1 LD_PRELOAD=/proc/self/fd/{LOADED_BEFORE} exec "$@"'
FLAGS = ("-shared", "-fPIC", "-pthread", "-Wno-unused-parameter")
LOST_CLIENTS = "host/serve/lost_clients.c"
SIMULATOR = ("sim/moments.c", "sim/port.c")
THREADS_MIN = 16
THREADS_MAX = 512


@dataclass(frozen=True)
class Service:
    """The disk to serve, nbdkit's options for the disk's data, the number of concurrent requests
    per connection, and the file for the requests' records."""

    disk: TimedDisk
    store: Sequence[str]
    at_once: int
    records: Path | None = None


def filter_file() -> Path:
    """Return the path of this project's filter, compiled for the installed version of nbdkit.

    nbdkit accepts only filters that were compiled for exactly its own version.
    """
    return compiled(
        Program(
            "timed.so",
            (*_ours(), *sources.matching(*sources.CORE_CODE), *SIMULATOR),
            flags=(*FLAGS, f"-DNBDKIT_FOUND={_version()}"),
            package=f"gcc libc6-dev {PACKAGES}",
        )
    )


def _lost_clients() -> Path:
    return compiled(Program("lost_clients.so", (LOST_CLIENTS,), flags=FLAGS))


def _ours() -> list[str]:
    names = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "host" / "serve").glob("*.c"))
    return [name for name in names if name != LOST_CLIENTS]


def _version() -> str:
    """Return the version of nbdkit, in characters that are safe for any shell and compiler."""
    if not shutil.which("nbdkit"):
        raise UserError(f"no nbdkit here, which serves the disk: apt-get install {PACKAGES}")
    result = subprocess.run(["nbdkit", "--version"], capture_output=True, text=True, check=True)
    return "".join(one if one.isalnum() else "_" for one in result.stdout.strip())


def serve(service: Service, listener: socket.socket, when_ready: Callable[[], None]) -> None:
    """Serve until the command is interrupted; raise RunFailed if nbdkit ends earlier."""
    command = _command(service)
    with _told() as told, _running(command, listener) as (process, handle):
        while not service.disk.serves:
            if _first_of((handle, told), LOOK_MS) is not None:
                break
        else:
            when_ready()
        if _first_of((handle, told), None) == handle:
            status = os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
            raise RunFailed(f"nbdkit {_ending(status)}, which ended the disk")


def _command(service: Service) -> list[str]:
    threads = max(THREADS_MIN, min(service.at_once, THREADS_MAX))
    records = [f"records={service.records.absolute()}"] if service.records else []
    return [
        *("sh", "-c", ACTIVATED, "sh"),
        *("nbdkit", "--foreground", f"--threads={threads}", f"--filter={filter_file()}"),
        *(*service.store, f"timed-disk={service.disk.path}", *records),
    ]


@contextmanager
def _told() -> Iterator[int]:
    """Yield a descriptor that becomes readable when the command is interrupted.

    It does not matter which thread receives the signal.
    """
    ours, its = socket.socketpair()
    with ours, its:
        its.setblocking(False)
        signal.set_wakeup_fd(its.fileno())
        signal.signal(signal.SIGTERM, lambda number, frame: None)
        scratch.report_if_interrupted()
        try:
            yield ours.fileno()
        finally:
            signal.set_wakeup_fd(-1)


@contextmanager
def _running(command: list[str], listener: socket.socket) -> Iterator[tuple[int, int]]:
    """Start the process; kill it when the block ends.

    Yield its process id, and a descriptor that becomes readable when the process ends.
    """
    process = os.posix_spawnp(
        command[0],
        command,
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, 2, 1),
            (os.POSIX_SPAWN_DUP2, listener.fileno(), FIRST_LISTENER),
            (os.POSIX_SPAWN_OPEN, LOADED_BEFORE, str(_lost_clients()), os.O_RDONLY, 0),
        ],
        setsigdef=(signal.SIGPIPE, signal.SIGTERM),
    )
    handle = os.pidfd_open(process)
    try:
        yield process, handle
    finally:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(handle)


def _first_of(descriptors: Sequence[int], patience_ms: int | None) -> int | None:
    """Return the first descriptor that becomes readable; None if none becomes readable in time."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return next((descriptor for descriptor, _ in poll.poll(patience_ms)), None)


def _ending(status: os.waitid_result | None) -> str:
    assert status
    if status.si_code == os.CLD_EXITED:
        return f"ended with exit code {status.si_status} (its messages, if any, are above)"
    return f"was killed by {signal.Signals(status.si_status).name}"
