# SPDX-License-Identifier: MIT
"""One VM from power-on to its results.

A VM runs a scenario (a shell script), with the modules and files it asks for in
its initramfs, and returns the folder /out.  Whatever goes wrong, QEMU and the
scratch folder are gone afterwards, and the error carries the guest's last words.
"""

import contextlib
import os
import subprocess
import tarfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from understudy.base import programs, scratch
from understudy.base.errors import RunFailed, UserError
from understudy.base.paths import ROOT
from understudy.native import registry
from understudy.platforms.vm import guest_programs, modules, packages, qemu
from understudy.platforms.vm.initramfs import Initramfs
from understudy.platforms.vm.processor import own_processor

LATE_MODULES = ("virtio_pci", "virtio_blk")
OUT_BYTES = 4 * 2**30
CONSOLE_LINES = 40
POLL_SECONDS = 0.05

Notify = Callable[[str], None]


@dataclass(frozen=True)
class Vm:
    """What to run.

    modules names the modules to load before the scenario, ours or the kernel's,
    each with its parameters; files maps places in the guest to content or to a
    file of the host, executable if under bin/.
    """

    scenario: str
    modules: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, bytes | str | Path] = field(default_factory=dict)
    machine: qemu.Machine = field(default_factory=qemu.Machine)
    timeout_seconds: float = 600


@dataclass(frozen=True)
class Result:
    """What a scenario left behind.

    Seconds are the host's; notified has the host's time of each notice.
    """

    out: dict[str, bytes]
    console: str
    exit_code: int
    boot_seconds: float
    run_seconds: float
    notified: dict[str, float]
    command: list[str]


def busybox() -> Path:
    """A static BusyBox of the host."""
    for candidate in ("/bin/busybox", "/usr/bin/busybox"):
        if Path(candidate).exists():
            return Path(candidate)
    raise UserError("no busybox here: apt-get install -y busybox-static")


def _module_files(kernel: packages.Kernel, vm: Vm) -> dict[str, Path | str]:
    schedulers = filter(registry.known, vm.modules)
    ours = [modules.scheduler_module(kernel, name) for name in schedulers]
    tree = modules.ModuleTree(kernel, [*modules.base_modules(kernel), *ours])
    early = tree.in_load_order(list(vm.modules))
    late = [path for path in tree.in_load_order(list(LATE_MODULES)) if path not in early]
    parameters = {name.replace("-", "_"): text for name, text in vm.modules.items()}

    def line(path: Path) -> str:
        return f"{path.stem} {parameters.get(path.stem.replace('-', '_'), '')}".strip() + "\n"

    files: dict[str, Path | str] = {f"modules/{path.name}": path for path in [*early, *late]}
    files["modules/early"] = "".join(map(line, early))
    files["modules/late"] = "".join(map(line, late))
    return files


def make_initramfs(kernel: packages.Kernel, vm: Vm) -> bytes:
    """The archive that the VM boots into."""
    initramfs = Initramfs()
    for folder in ("bin", "dev", "proc", "sys", "tmp", "modules"):
        initramfs.folder(folder)
    initramfs.character_device("dev/console", 5, 1)
    initramfs.file("init", ROOT / "guest" / "init", executable=True)
    initramfs.file("bin/busybox", busybox(), executable=True)
    for program in guest_programs.GUEST_PROGRAMS:
        compiled = programs.compiled(program)
        initramfs.file(f"bin/{program.name}", compiled, executable=True)
    for name, source in _module_files(kernel, vm).items():
        initramfs.file(name, source)
    for name, content in vm.files.items():
        initramfs.file(name, content, executable=name.startswith("bin/"))
    initramfs.file("scenario", vm.scenario)
    return initramfs.content()


@contextlib.contextmanager
def _running(
    command: list[str], machine: qemu.Machine, folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """QEMU in a session of its own, so that Ctrl-C reaches only us; killed at the end, also
    if we are killed ourselves."""
    virtual = machine.clock == "virtual"
    with (
        own_processor() if virtual else contextlib.nullcontext() as processor,
        (folder / "qemu.log").open("wb") as log,
    ):
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "--", *command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            if processor is not None:
                os.sched_setaffinity(process.pid, {processor})
            yield process
        finally:
            process.kill()
            process.wait()


def _console(folder: Path) -> str:
    texts = []
    for name in ("qemu.log", "console.log"):
        with contextlib.suppress(FileNotFoundError):
            texts.append((folder / name).read_text(errors="replace").replace("\r", ""))
    return "".join(texts)


def last_words(console: str) -> str:
    """The end of a console, for an error message; and what a long trace has pushed out."""
    lines = [line for line in console.splitlines() if line.strip()]
    why = [line for line in lines[:-CONSOLE_LINES] if "Kernel panic" in line]
    words = [*why, *lines[-CONSOLE_LINES:]]
    return "\n".join(f"  | {line}" for line in words) or "  | (silence)"


class _Notices:
    """Lines that the guest wrote to the debug console, as they come."""

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


def _wait(
    process: subprocess.Popen[bytes], notices: _Notices, vm: Vm, folder: Path, stop: threading.Event
) -> None:
    deadline = time.monotonic() + vm.timeout_seconds
    while process.poll() is None:
        notices.poll()
        if stop.wait(POLL_SECONDS):
            raise RunFailed("stopped")
        if time.monotonic() > deadline:
            raise RunFailed(
                f"the VM did not end within {vm.timeout_seconds:.0f} s; its last words:\n"
                + last_words(_console(folder))
            )
    notices.poll()


def _exit_code(process: subprocess.Popen[bytes], notices: _Notices, folder: Path) -> int:
    """The scenario's exit code; isa-debug-exit made it 2 * code + 1.

    QEMU's own failures end with 1 as well, but before the guest says anything.
    """
    if "booted" not in notices.when:
        raise RunFailed("the VM did not boot; its last words:\n" + last_words(_console(folder)))
    if process.returncode < 0 or process.returncode % 2 == 0:
        raise RunFailed(
            "the VM died (a kernel panic resets it); its last words:\n"
            + last_words(_console(folder))
        )
    return process.returncode // 2


def _read_out(path: Path) -> dict[str, bytes]:
    try:
        with tarfile.open(path, "r:") as tar:
            members = [member for member in tar if member.isfile()]
            return {
                member.name.removeprefix("./"): content.read()
                for member in members
                if (content := tar.extractfile(member))
            }
    except tarfile.TarError as error:
        raise RunFailed(f"the VM's results can't be read: {error}") from error


def run(
    vm: Vm,
    kernel: packages.Kernel | None = None,
    heard: Notify = lambda line: None,
    stop: threading.Event | None = None,
) -> Result:
    """Boot, run the scenario, return what it left.

    Raises RunFailed with the console's last lines if the guest panics, hangs past
    the time-out or ends without results; a scenario's own exit code is returned.
    """
    kernel = kernel or packages.fetch_kernel()
    with scratch.folder("understudy-vm-") as folder:
        archive = folder / "initramfs"
        archive.write_bytes(make_initramfs(kernel, vm))
        with (folder / "out.tar").open("wb") as out:
            out.truncate(OUT_BYTES)
        command = qemu.command_line(vm.machine, kernel.image, archive, folder)
        notices = _Notices(folder / "notify.log", heard)
        began = time.monotonic()
        with _running(command, vm.machine, folder) as process:
            _wait(process, notices, vm, folder, stop or threading.Event())
        booted = notices.when.get("booted", began)
        return Result(
            exit_code=_exit_code(process, notices, folder),
            out=_read_out(folder / "out.tar"),
            console=_console(folder),
            boot_seconds=booted - began,
            run_seconds=notices.when.get("collecting", time.monotonic()) - booted,
            notified=notices.when,
            command=command,
        )
