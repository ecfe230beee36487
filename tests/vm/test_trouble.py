# SPDX-License-Identifier: MIT
"""A run that can't succeed ends with one clear message that has the guest's last lines, and leaves
neither a QEMU process nor a folder.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from guests import group

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.platforms.vm import machine, packages, qemu
from understudy_devices.platforms.vm.machine import Vm

pytestmark = group("trouble")


@pytest.fixture(autouse=True)
def nothing_stays_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use a temporary folder for each test; check that it is empty afterwards and that no QEMU is
    left.
    """
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield
    assert list(scratch.iterdir()) == []
    assert qemus_in(scratch) == []


def qemus_in(scratch: Path) -> list[int]:
    """List the QEMU processes whose command line names the folder."""
    pids = []
    for process in Path("/proc").iterdir():
        try:
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if process.name.isdigit() and command.startswith(b"/") and bytes(scratch) in command:
            pids.append(int(process.name))
    return pids


def test_a_panic_fails_with_the_last_words() -> None:
    """The message contains the kernel's own text."""
    with pytest.raises(RunFailed, match="died") as failure:
        machine.run(Vm("echo c > /proc/sysrq-trigger"))
    assert "Kernel panic" in str(failure.value)


def test_a_hang_ends_at_the_time_out() -> None:
    """A guest that only waits costs no wall time in the virtual clock, yet the run ends.

    The time-out is three times what another VM takes now, and so enough to boot.
    """
    begun = time.monotonic()
    machine.run(Vm("exit 0"))
    enough = round(3 * (time.monotonic() - begun)) + 5
    with pytest.raises(RunFailed, match=f"did not end within {enough} s") as failure:
        machine.run(Vm("echo going to sleep; while :; do sleep 1; done", timeout_seconds=enough))
    assert "going to sleep" in str(failure.value)


def test_out_of_memory_fails_with_the_last_words() -> None:
    """The run fails whichever process the kernel kills."""
    vm = Vm(
        "tail /dev/zero & sleep 1000", machine=qemu.Machine(memory_mib=160), timeout_seconds=120
    )
    with pytest.raises(RunFailed, match="died") as failure:
        machine.run(vm)
    assert "Out of memory" in str(failure.value)


def test_a_device_that_qemu_refuses() -> None:
    """QEMU ends before the guest starts; the run fails, and the message has QEMU's output."""
    with pytest.raises(RunFailed, match="did not boot") as failure:
        machine.run(Vm("exit 0", machine=qemu.Machine(devices=("-device", "no-such-device"))))
    assert "no-such-device" in str(failure.value)


def test_a_module_that_does_not_load() -> None:
    """The init script stops and names the module."""
    with pytest.raises(RunFailed, match="did not boot") as failure:
        machine.run(Vm("exit 0", {"vdisk": "size=5"}))
    assert "size=5 is not a positive multiple" in str(failure.value)
    assert "can't load vdisk" in str(failure.value)


def test_without_qemu_its_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"apt-get install .*qemu-system-x86"):
        qemu.binary()


def test_without_the_kernel_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """apt does not know the package, and the cache is empty; the message suggests
    apt-get update.
    """
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(packages, "META_PACKAGE", "linux-image-of-nobody")
    with pytest.raises(UserError, match="apt-get update"):
        packages.fetch_kernel()


def test_without_a_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The package is known but can't be downloaded; no part of it stays in the cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    with pytest.raises(UserError, match=r"can't fetch linux-image-.*check the network"):
        packages.fetch_kernel()
    folders = [path for path in (tmp_path / "understudy" / "kernel").iterdir() if path.is_dir()]
    assert folders == []
