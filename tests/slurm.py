# SPDX-License-Identifier: MIT
"""A cluster with Slurm on this machine: a controller and two nodes, without systemd.

Debian's slurmd can run several times on one machine (-N), each with its own port and folder.  All
daemons run in the foreground as children of the test, so none of them outlives it.
"""

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch")
SECONDS = 60
NODES = ("n1", "n2")
CONFIGURATION = """\
ClusterName=understudy
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdTimeout=10
KillWait=2
MpiDefault=none
NodeName=n1 NodeAddr=127.0.0.1 NodeHostname={host} Port={ports[1]} CPUs=1 RealMemory=1000
NodeName=n2 NodeAddr=127.0.0.1 NodeHostname={host} Port={ports[2]} CPUs=1 RealMemory=1000
PartitionName=all Nodes=n1,n2 Default=YES State=UP
"""


class Slurm:
    """The running cluster; `environment` makes Slurm's commands use it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        for name in ("munge", "state", *NODES):
            (folder / name).mkdir(mode=0o700)
        (folder / "munge" / "key").write_bytes(secrets.token_bytes(128))
        (folder / "munge" / "key").chmod(0o400)
        user = pwd.getpwuid(os.geteuid()).pw_name
        host = socket.gethostname().partition(".")[0]
        text = CONFIGURATION.format(host=host, ports=_ports(3), user=user, folder=folder)
        (folder / "slurm.conf").write_text(text)

    def start(self) -> None:
        """Start all daemons; return when the nodes are idle."""
        munge = self.folder / "munge"
        files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log"}
        words = [f"--{option}={munge / name}" for option, name in files.items()]
        self._start("munged", "--foreground", "--force", *words, f"--seed-file={munge / 'seed'}")
        _wait(lambda: (munge / "socket").exists(), "munged's socket")
        self._start("slurmctld", "-D")
        for node in NODES:
            self.start_node(node)

    def start_node(self, node: str) -> None:
        """Start a node; return when it is idle."""
        self._start(node, "-D", "-N", node, program="slurmd")
        _wait(lambda: "idle" in self.ask("sinfo", "-h", "-n", node, "-o", "%t").split(), node)

    def lose(self, node: str, spared: tuple[str, ...] = ()) -> None:
        """Kill a node with everything that runs on it, but for programs whose names begin so."""
        daemon = self._daemons.pop(node)
        daemon.kill()
        daemon.wait()
        self._kill(node, spared)

    def stop_node(self, node: str, number: signal.Signals = signal.SIGSTOP) -> None:
        """Let a node stand still, or go on by SIGCONT."""
        self._daemons[node].send_signal(number)

    def ask(self, *words: str) -> str:
        """Return what one of Slurm's commands prints."""
        done = subprocess.run(
            words, env=self.environment, capture_output=True, text=True, check=False
        )
        return done.stdout

    def jobs(self) -> list[str]:
        """Return the numbers of all jobs that wait or run."""
        return self.ask("squeue", "-h", "-r", "-o", "%i").split()

    def stop(self) -> None:
        """End all jobs, then all daemons."""
        self.ask("scancel", *self.jobs())
        with suppress(AssertionError):
            _wait(lambda: not self.jobs(), "the end of all jobs")
        for daemon in reversed(self._daemons.values()):
            daemon.terminate()
            try:
                daemon.wait(SECONDS)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self._kill()

    def _kill(self, node: str = "", spared: tuple[str, ...] = ()) -> None:
        """Kill the processes of jobs: those of one node, or all, but for some programs."""
        of_node = {f"SLURMD_NODENAME={node}".encode()}
        log = str(self.folder / f"{node}.log")
        mine = f"SLURM_CONF={self.folder / 'slurm.conf'}".encode()
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                marks = set((process / "environ").read_bytes().split(b"\0"))
                opened = {str(file.readlink()) for file in (process / "fd").iterdir()}
                if (process / "comm").read_text().startswith(spared):
                    continue
                if mine in marks and (not node or of_node & marks or log in opened):
                    os.kill(int(process.name), signal.SIGKILL)

    def _start(self, name: str, *words: str, program: str = "") -> None:
        path = f"{os.environ['PATH']}:/usr/sbin"
        command = shutil.which(program or name, path=path)
        assert command
        with (self.folder / f"{name}.out").open("ab") as out:
            self._daemons[name] = subprocess.Popen(
                [command, *words],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )


def _ports(number: int) -> list[int]:
    """Return free ports."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _wait(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited {SECONDS} s for {what}"
        time.sleep(0.1)


@contextmanager
def cluster() -> Iterator[Slurm]:
    """Yield a running cluster; fail if its programs are not installed."""
    path = f"{os.environ['PATH']}:/usr/sbin"
    if missing := [name for name in PROGRAMS if not shutil.which(name, path=path)]:
        pytest.fail(f"{', '.join(missing)} missing; make setup, or apt-get install slurm-wlm")
    with TemporaryDirectory(prefix="slurm-", dir="/tmp") as folder:
        slurm = Slurm(Path(folder))
        try:
            slurm.start()
            yield slurm
        finally:
            slurm.stop()
