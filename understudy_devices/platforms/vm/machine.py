# SPDX-License-Identifier: MIT
"""Runs one VM from its start to its results.

The stage `ahead` (modules, files, a script) makes a VM ready. The VM then reads its input from the
wire, runs a scenario (a shell script) with the scenario's modules and files, and returns the folder
/out. If several machines have the same stage, one of them is booted and saved when ready, and later
runs resume it. If a machine can't be saved or resumed, a new one is booted, which executes the same
instructions. After any error QEMU and the scratch folder are removed, and the error contains the
guest's last output.
"""

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from understudy_devices.base import scratch
from understudy_devices.base.cache import digest
from understudy_devices.base.errors import RunFailed
from understudy_devices.platforms.vm import packages, qemu, snapshots, stages, trouble, turns, wire
from understudy_devices.platforms.vm.conversation import Conversation
from understudy_devices.platforms.vm.link import Gone, Link
from understudy_devices.platforms.vm.monitor import Monitor
from understudy_devices.platforms.vm.processor import own_processor
from understudy_devices.platforms.vm.stages import Content, Stage
from understudy_devices.platforms.vm.trouble import last_words

POLL_SECONDS = 0.02
LAST_SECONDS = 10  # time for QEMU to end

Notify = Callable[[str], None]


@dataclass(frozen=True)
class Vm:
    """A run: a scenario with its modules and files (as in a Stage), and the stage `ahead`, which
    makes the machine ready.
    """

    scenario: str
    modules: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Content] = field(default_factory=dict)
    machine: qemu.Machine = field(default_factory=qemu.Machine)
    timeout_seconds: float = 600
    ahead: Stage = field(default_factory=Stage)
    keeps_rules: bool = False
    """Whether a scheduler that breaks a rule ends the run."""
    began: Callable[[Path], None] = lambda wire: None
    """Called with the wire before the guest begins."""
    salvage: Callable[[Path], None] = lambda wire: None
    """Called with the wire when the guest has ended, even if it has died."""


@dataclass(frozen=True)
class Start:
    """How a machine was started for its run.

    saved_machine is the key of the saved machine that was resumed, or would have been;
    booted_because says why the machine was booted instead, and is None if it was resumed.
    """

    saved_machine: str
    booted_because: str | None = None


@dataclass(frozen=True)
class Result:
    """The results of a scenario.

    Seconds are on the host's clock; notified has the host's time of each notice.
    """

    out: dict[str, bytes]
    console: str
    exit_code: int
    boot_seconds: float
    run_seconds: float
    notified: dict[str, float]
    command: list[str]
    start: Start


@contextlib.contextmanager
def _running(
    command: list[str], machine: qemu.Machine, folder: Path, files: Sequence[int] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """Run QEMU in its own session, so that Ctrl-C reaches only this process; kill it at the end,
    also if this process is killed.

    QEMU's monitor reads from stdin; QEMU's output is ignored. QEMU inherits the open files.
    """
    virtual = machine.clock == "virtual"
    with (
        own_processor() if virtual else contextlib.nullcontext() as processor,
        (folder / "qemu.log").open("wb") as log,
    ):
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "--", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
            pass_fds=files,
        )
        try:
            if processor is not None:
                os.sched_setaffinity(process.pid, {processor})
            yield process
        finally:
            process.kill()
            process.wait()
            if process.stdin:
                with contextlib.suppress(
                    BrokenPipeError
                ):  # QEMU may end before it has read everything
                    process.stdin.close()


def _console(folder: Path) -> str:
    texts = []
    for name in ("qemu.log", "console.log"):
        with contextlib.suppress(FileNotFoundError):
            texts.append((folder / name).read_text(errors="replace").replace("\r", ""))
    return "".join(texts)


class _Notices:
    """Lines from the guest on the debug console, as they arrive."""

    def __init__(self, path: Path, heard: Notify) -> None:
        self._path = path
        self._heard = heard
        self._seen = 0
        self.when: dict[str, float] = {}

    def poll(self) -> None:
        try:
            lines = self._path.read_text(errors="replace").split("\n")[:-1]
        except FileNotFoundError:
            return
        for line in lines[self._seen :]:
            self.when.setdefault(line, time.monotonic())
            self._heard(line)
        self._seen = len(lines)


class _CannotResume(Exception):  # noqa: N818 - nobody but us sees it
    """A saved machine did not reach its run; the message is the reason, in one line."""


class _Guest:
    """A running VM and its output. The VM may run until its time is over or `stop` is set."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        folder: Path,
        vm: Vm,
        kernel: packages.Kernel,
        heard: Notify,
        stop: threading.Event,
    ) -> None:
        self._process = process
        self._folder = folder
        self._seconds = vm.timeout_seconds
        self._stop = stop
        self._began = time.monotonic()
        self._watch = trouble.Watch(
            process,
            lambda: _console(folder),
            keeps_rules=vm.keeps_rules,
            looked_at=kernel.looks_at_each_access,
        )
        self._tell = heard
        self._notices = _Notices(folder / "notify.log", self._heard)

    def _heard(self, line: str) -> None:
        self._watch.heard(line)
        self._tell(line)

    def tell(self, commands: str) -> None:
        """Have QEMU's monitor execute commands."""
        qemu.tell(self._process, commands)

    def check(self) -> None:
        """Raise RunFailed if the VM has broken a rule, hangs, has used up its time, or is to be
        stopped.
        """
        self._notices.poll()
        self._watch.check()
        if self._stop.is_set():
            raise RunFailed("stopped")
        if time.monotonic() > self._began + self._seconds:
            raise RunFailed(
                f"the VM did not end within {self._seconds:.0f} s; its last words:\n"
                + last_words(_console(self._folder))
            )

    def wait(self) -> None:
        """Wait until the VM has ended."""
        while self._process.poll() is None:
            self.check()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(POLL_SECONDS)
        self._notices.poll()
        self._watch.check()

    def gone(self, error: Gone) -> RunFailed:
        """Return the error for a VM that has ended by itself."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(LAST_SECONDS)
        console = _console(self._folder)
        return RunFailed(f"the VM is gone ({error}); its last words:\n{last_words(console)}")

    def comes_to_its_run(self, by_telling: str = "") -> bool:
        """Wait until the VM reaches its run, and meanwhile send it the commands repeatedly. Return
        False if the VM ends first.
        """
        ended = False
        while not (self.came_to_its_run() or ended):
            self.tell(by_telling)
            self._stop.wait(POLL_SECONDS)
            ended = self._process.poll() is not None
            self.check()
        return self.came_to_its_run()

    def came_to_its_run(self) -> bool:
        return "booted" in self._notices.when

    def exit_code(self) -> int:
        """Return the scenario's exit code; QEMU's device isa-debug-exit turned it into 2 * code +
        1.

        If QEMU itself fails, it also exits with 1, but before the guest writes anything.
        """
        console = _console(self._folder)
        if not self.came_to_its_run():
            raise RunFailed("the VM did not boot; its last words:\n" + last_words(console))
        if self._process.returncode < 0 or self._process.returncode % 2 == 0:
            raise RunFailed(trouble.of_death(console))
        return self._process.returncode // 2

    def result(self, command: list[str], start: Start) -> Result:
        """Return the results; call this after the VM has ended."""
        code = self.exit_code()
        booted = self._notices.when["booted"]
        return Result(
            out=wire.results(self._folder / "wire"),
            console=_console(self._folder),
            exit_code=code,
            boot_seconds=booted - self._began,
            run_seconds=self._notices.when.get("collecting", time.monotonic()) - booted,
            notified=self._notices.when,
            command=command,
            start=start,
        )


Met = tuple[_Guest, Conversation, Path]
"""A guest at its run, its conversation, and its folder."""


class _Run:
    """One run, on a saved machine if possible, else on a booted one."""

    def __init__(
        self, vm: Vm, kernel: packages.Kernel, heard: Notify, stop: threading.Event
    ) -> None:
        self._vm = vm
        self._kernel = kernel
        self._heard = heard
        self._stop = stop
        self._archive = stages.initramfs_of(kernel, vm.ahead).archive()
        self._input = _input_of(vm, kernel)
        self._key = self._name_of_machine()

    def result(self) -> Result:
        machine, because = self._saved()
        if not machine:
            return self._boot(because)
        try:
            return self._resume(machine)
        except _CannotResume as error:
            snapshots.discard(machine)
            return self._boot(f"the saved machine can't be resumed: {error}")

    def _saved(self) -> tuple[snapshots.SavedMachine | None, str]:
        """Return the saved machine to resume; or None, and the reason to boot one."""
        if self._vm.machine.accelerator != "tcg":
            return None, "only machines of TCG are saved"
        try:
            return snapshots.find(self._key, self._save), ""
        except (Gone, OSError, RunFailed) as error:
            return None, f"it can't be saved: {error}"

    def _name_of_machine(self) -> str:
        """Return a digest of everything on which a machine depends until it is ready."""
        command = qemu.command_line(self._vm.machine, Path("kernel"), Path("archive"), Path())
        words = [self._kernel.folder.name, *command[1:]]
        program = [*qemu.identity(self._vm.machine), turns.identity(self._vm.machine.clock)]
        return digest([*program, *map(str.encode, [*words, self._archive.name])])

    def lay_out(self, folder: Path) -> list[str]:
        """Prepare the folder for a run; return the command that boots it."""
        self._lay_wire(folder, self._input)
        return self._command(folder)

    def _boot(self, because: str) -> Result:
        with self._scratch() as folder:
            command = self.lay_out(folder)
            with self._salvaged(folder), self._guest(command, folder) as guest:
                guest.wait()
                return guest.result(command, Start(self._key, because))

    def _resume(self, machine: snapshots.SavedMachine) -> Result:
        with self._scratch() as folder, _state_of(machine) as state:
            files = (state.fileno(),)
            command = self.lay_out(folder) + qemu.resuming(self._vm.machine, machine.memory)
            with self._salvaged(folder), self._guest(command, folder, files) as guest:
                guest.tell(qemu.loading(state.fileno()))
                if not guest.comes_to_its_run(by_telling=qemu.GO_ON):
                    raise _CannotResume(_last_line(folder))
                guest.wait()
                return guest.result(command, Start(self._key))

    def _save(self, machine: snapshots.SavedMachine) -> None:
        """Boot a machine until it is ready, and save it."""
        with self._scratch() as folder, Link() as control, machine.state.open("wb") as state:
            theirs = control.theirs
            self._lay_wire(folder, {})
            command = self._command(folder)
            command += qemu.saving(self._vm.machine, machine.memory, theirs)
            with self._guest(command, folder, (theirs,)) as guest:
                Monitor(control, guest.check).save_state(state.fileno())
                guest.wait()

    @contextlib.contextmanager
    def talk(self) -> Iterator[Conversation]:
        """Exchange messages with a machine that is ready. The machine pauses when its scenario
        pauses, and its programs may ask questions.
        """
        with contextlib.ExitStack() as meeting:
            guest, conversation, folder = self._meet(meeting)
            yield conversation
            guest.wait()
            if guest.exit_code():
                raise guest.gone(Gone("it gave up"))
            conversation.out = wire.results(folder / "wire")

    def _meet(self, meeting: contextlib.ExitStack) -> Met:
        """Enter a machine's context: a saved machine's if possible, else a booted machine's."""
        machine, _ = self._saved()
        try:
            return meeting.enter_context(self._met(machine))
        except _CannotResume:
            assert machine
            snapshots.discard(machine)
            return meeting.enter_context(self._met(None))

    @contextlib.contextmanager
    def _met(self, machine: snapshots.SavedMachine | None) -> Iterator[Met]:
        with self._scratch() as folder, Link() as control, Link() as questions:
            theirs = control.theirs, questions.theirs
            command = [*turns.answering(questions.theirs), *self.lay_out(folder)]
            command += self._beginning(machine, control.theirs) + qemu.talking(questions.theirs)
            with self._guest(command, folder, theirs) as guest:
                questions.begin(guest.check)
                if machine:
                    monitor = _go_on(machine, control, guest, folder)
                else:
                    monitor = _watched(control, guest)
                conversation = Conversation(monitor, questions, folder / "wire", guest.gone)
                with contextlib.closing(conversation):
                    if not machine:
                        conversation.wait()
                        conversation.go_on()
                    elif not guest.comes_to_its_run():
                        raise _CannotResume(_last_line(folder))
                    yield guest, conversation, folder

    def _beginning(self, machine: snapshots.SavedMachine | None, monitor: int) -> list[str]:
        resuming = qemu.resuming(self._vm.machine, machine.memory) if machine else []
        return resuming + qemu.watched(monitor)

    @contextlib.contextmanager
    def _salvaged(self, folder: Path) -> Iterator[None]:
        self._vm.began(folder / "wire")
        try:
            yield
        finally:
            self._vm.salvage(folder / "wire")

    def _lay_wire(self, folder: Path, files: Mapping[str, Content]) -> None:
        wire.lay(folder / "wire", qemu.wire_bytes(self._vm.machine), files)

    def _command(self, folder: Path) -> list[str]:
        """Return the command that boots from the archive, after writing the archive to the
        folder.
        """
        machine, archive = self._vm.machine, folder / "initramfs"
        archive.write_bytes(self._archive.content)
        command = qemu.command_line(machine, self._kernel.image, archive, folder)
        return [*turns.words_before(machine.clock), *command]

    @contextlib.contextmanager
    def _guest(
        self, command: list[str], folder: Path, files: Sequence[int] = ()
    ) -> Iterator[_Guest]:
        with _running(command, self._vm.machine, folder, files) as process:
            yield _Guest(process, folder, self._vm, self._kernel, self._heard, self._stop)

    @contextlib.contextmanager
    def _scratch(self) -> Iterator[Path]:
        if self._stop.is_set():
            raise RunFailed("stopped")
        with scratch.folder("understudy-vm-") as folder:
            yield folder


def _state_of(machine: snapshots.SavedMachine) -> BinaryIO:
    try:
        return machine.state.open("rb")
    except OSError as error:
        raise _CannotResume(str(error)) from error


def _watched(control: Link, guest: _Guest) -> Monitor:
    """Return the monitor of a machine that boots."""
    try:
        return Monitor(control, guest.check)
    except Gone as error:
        raise guest.gone(error) from error


def _go_on(machine: snapshots.SavedMachine, control: Link, guest: _Guest, folder: Path) -> Monitor:
    """Resume a saved machine, and return its monitor."""
    with _state_of(machine) as state:
        try:
            monitor = Monitor(control, guest.check)
            monitor.load_state(state.fileno())
        except Gone as error:
            raise _CannotResume(f"{error} {_last_line(folder)}") from error
    return monitor


def _last_line(folder: Path) -> str:
    lines = _console(folder).strip().splitlines()
    return lines[-1] if lines else "(no output)"


def build(vm: Vm, kernel: packages.Kernel) -> None:
    """Build in advance everything that a run needs."""
    stages.initramfs_of(kernel, vm.ahead).archive()
    _input_of(vm, kernel)
    qemu.command_line(vm.machine, Path("kernel"), Path("archive"), Path())


def _input_of(vm: Vm, kernel: packages.Kernel) -> dict[str, Content]:
    return stages.run_files(kernel, vm.ahead, Stage(vm.scenario, vm.modules, vm.files))


def lay_out(vm: Vm, kernel: packages.Kernel, folder: Path) -> list[str]:
    """Prepare the folder for a run; return the command that runs it."""
    return _Run(vm, kernel, lambda line: None, threading.Event()).lay_out(folder)


def talk(vm: Vm) -> contextlib.AbstractContextManager[Conversation]:
    """Start a machine and exchange messages with its scenario, which ends with the `with` block."""
    return _Run(vm, packages.fetch_kernel(), lambda line: None, threading.Event()).talk()


def run(
    vm: Vm,
    kernel: packages.Kernel | None = None,
    heard: Notify = lambda line: None,
    stop: threading.Event | None = None,
) -> Result:
    """Start a machine, run the scenario, return its results.

    Raises RunFailed with the console's last lines if the guest panics, hangs past the time-out or
    ends without results; a scenario's own exit code is returned.
    """
    kernel = kernel or packages.fetch_kernel()
    return _Run(vm, kernel, heard, stop or threading.Event()).result()
