# SPDX-License-Identifier: MIT
"""The two stages of a guest: the first makes the machine ready, the second is the run.

The first stage is in the archive that the machine boots from, the second arrives on the wire.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from understudy_devices.base import programs
from understudy_devices.base.errors import UserError
from understudy_devices.base.paths import IS_X86, ROOT
from understudy_devices.platforms import guest_programs
from understudy_devices.platforms.vm import modules, packages
from understudy_devices.platforms.vm.initramfs import Initramfs
from understudy_devices.platforms.vm.wire import EXECUTABLE

Content = bytes | str | Path
"""Content of a file in the guest: the content itself, or a file of the host."""


@dataclass(frozen=True)
class Stage:
    """A script for the guest, with its modules and files.

    modules: the project's or the kernel's modules to load before the script, with their parameters.
    files: content by path in the guest; programs and libraries are made executable.
    """

    script: str = ""
    modules: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Content] = field(default_factory=dict)


def busybox() -> Path:
    """Return the path of a static BusyBox: this machine's, or on another architecture Debian's."""
    if not IS_X86:
        return packages.unpacked("busybox-static") / "bin" / "busybox"
    for candidate in ("/bin/busybox", "/usr/bin/busybox"):
        if Path(candidate).exists():
            return Path(candidate)
    raise UserError("no busybox here: apt-get install -y busybox-static")


def _module_files(
    kernel: packages.Kernel, to_load: Mapping[str, str], loaded: Mapping[str, str]
) -> dict[str, Content]:
    """Return the files of the modules to load after `loaded`, and their list for guest/init."""
    tree = modules.ModuleTree(kernel, modules.ours(kernel, to_load))
    before = tree.in_load_order(list(loaded))
    paths = [path for path in tree.in_load_order(list(to_load)) if path not in before]
    parameters = {name.replace("-", "_"): text for name, text in to_load.items()}

    def line(path: Path) -> str:
        return f"{path.stem} {parameters.get(path.stem.replace('-', '_'), '')}".strip() + "\n"

    files: dict[str, Content] = {path.name: path for path in paths}
    return files | {"list": "".join(map(line, paths))}


def initramfs_of(kernel: packages.Kernel, ahead: Stage) -> Initramfs:
    """Return the archive of a machine that the stage makes ready; build its modules and
    programs.
    """
    initramfs = Initramfs()
    for folder in ("bin", "dev", "proc", "sys", "tmp", "modules", "ahead/modules"):
        initramfs.folder(folder)
    initramfs.character_device("dev/console", 5, 1)
    initramfs.file("init", ROOT / "guest" / "init", executable=True)
    initramfs.file("bin/busybox", busybox(), executable=True)
    for program in guest_programs.of_every_guest():
        compiled = programs.compiled_for_guest(program)
        initramfs.file(f"bin/{program.name}", compiled, executable=True)
    for name, content in _module_files(kernel, ahead.modules, {}).items():
        initramfs.file(f"ahead/modules/{name}", content)
    for name, content in ahead.files.items():
        initramfs.file(name, content, executable=name.startswith(EXECUTABLE))
    initramfs.file("ahead/script", ahead.script)
    return initramfs


def run_files(kernel: packages.Kernel, ahead: Stage, run: Stage) -> dict[str, Content]:
    """Return the files of a run for a machine that is ready."""
    loaded = _module_files(kernel, run.modules, ahead.modules)
    files: dict[str, Content] = {f"modules/{name}": content for name, content in loaded.items()}
    return files | {**run.files, "scenario": run.script}
