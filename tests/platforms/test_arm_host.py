# SPDX-License-Identifier: MIT
"""VMs on a host that is not x86-64: where the guest's parts come from, and what is refused.

This machine plays that host: only the constant IS_X86 differs.
"""

import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from understudy_devices.base import programs
from understudy_devices.base.errors import UserError
from understudy_devices.platforms import guest_programs
from understudy_devices.platforms.vm import debian_programs, kvm, packages, qemu, stages

X86_64 = 62  # e_machine, in an ELF header


@pytest.fixture
def arm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Pretend that this machine is not x86-64, and use an empty cache."""
    for module in (debian_programs, kvm, packages, qemu, stages):
        monkeypatch.setattr(module, "IS_X86", False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    qemu._tsc_khz.cache_clear()
    yield
    qemu._tsc_khz.cache_clear()


def test_a_guest_s_program_is_compiled_for_x86_64() -> None:
    """A guest's program is for x86-64 on every host; the compiler is the one with that name."""
    program = programs.compiled_for_guest(guest_programs.program("serve"))
    (machine,) = struct.unpack_from("<H", program.read_bytes(), 18)
    assert machine == X86_64


@pytest.mark.usefixtures("arm")
def test_busybox_is_debians_for_the_guest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The host's BusyBox does not run in a guest, so a package for amd64 is unpacked instead."""
    tree = tmp_path / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN/control").write_text(
        "Package: busybox-static\nVersion: 1:2-3\nArchitecture: amd64\n"
        "Maintainer: nobody <nobody@localhost>\nDescription: a test's\n"
    )
    (tree / "bin").mkdir()
    (tree / "bin/busybox").write_text("for a guest")
    asked = []

    def download(package: str, folder: Path) -> Path:
        asked.append(package)
        deb = folder / "busybox.deb"
        subprocess.run(["dpkg-deb", "--build", tree, deb], check=True, capture_output=True)
        return deb

    packages.unpacked.cache_clear()
    monkeypatch.setattr(packages, "_download", download)
    monkeypatch.setattr(packages, "_show", lambda package: {"Version": "1:2-3"})
    assert stages.busybox().read_text() == "for a guest"
    assert stages.busybox().parents[1].name == "busybox-static_1-2-3"
    packages.unpacked.cache_clear()
    assert asked == ["busybox-static:amd64"]


@pytest.mark.usefixtures("arm")
def test_an_unknown_kernel_names_the_foreign_architecture(monkeypatch: pytest.MonkeyPatch) -> None:
    """apt on ARM knows no package for amd64 before dpkg is told of that architecture."""
    monkeypatch.delenv(packages.OWN_KERNEL, raising=False)
    monkeypatch.setattr(packages, "_show", lambda package: {})
    with pytest.raises(UserError, match=r"run dpkg --add-architecture amd64, then apt-get update$"):
        packages.current_kernel()


@pytest.mark.usefixtures("arm")
def test_what_an_arm_host_has_not() -> None:
    """Neither KVM nor this machine's programs are of use for a guest of another architecture."""
    assert not kvm.probe().works
    assert "architecture" in kvm.probe().reason
    with pytest.raises(UserError, match=r"^fio in a VM: .*not x86-64"):
        debian_programs.files("fio")


@pytest.mark.usefixtures("arm")
def test_the_wall_clock_s_counter_counts_nanoseconds() -> None:
    """QEMU has no time stamp counter to read on such a host (its include/qemu/timer.h)."""
    wall = qemu.Machine(clock="wall")
    command = qemu.command_line(wall, Path("kernel"), Path("archive"), Path())
    assert "tsc_early_khz=1000000 " in command[command.index("-append") + 1]
