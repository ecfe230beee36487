# SPDX-License-Identifier: MIT
"""When a run can't succeed: one clear message with the guest's last words, and nothing
stays behind, neither a QEMU process nor a folder.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from guests import group

from understudy.base.errors import RunFailed, UserError
from understudy.platforms.vm import machine, packages, qemu
from understudy.platforms.vm.machine import Vm

pytestmark = group("trouble")


@pytest.fixture(autouse=True)
def nothing_stays_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A temporary folder of our own, which QEMU's command line names and which ends empty."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield
    assert list(scratch.iterdir()) == []
    assert qemus_in(scratch) == []


def qemus_in(scratch: Path) -> list[int]:
    """QEMU processes that write to the folder."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if process.name.isdigit() and command.startswith(b"/") and bytes(scratch) in command:
            found.append(int(process.name))
    return found


def test_a_panic_fails_with_the_last_words() -> None:
    """The kernel's own words about it are in the message."""
    with pytest.raises(RunFailed, match="died") as failure:
        machine.run(Vm("echo c > /proc/sysrq-trigger"))
    assert "Kernel panic" in str(failure.value)


def test_a_hang_ends_at_the_time_out() -> None:
    """A guest that only waits costs no wall time in the virtual clock, yet ends.  The time is
    enough for it to boot: three times what another one takes now."""
    begun = time.monotonic()
    machine.run(Vm("exit 0"))
    enough = round(3 * (time.monotonic() - begun)) + 5
    with pytest.raises(RunFailed, match=f"did not end within {enough} s") as failure:
        machine.run(Vm("echo going to sleep; while :; do sleep 1; done", timeout_seconds=enough))
    assert "going to sleep" in str(failure.value)


def test_out_of_memory_fails_with_the_last_words() -> None:
    """Whoever takes it, and whether or not the scenario would notice."""
    vm = Vm(
        "tail /dev/zero & sleep 1000", machine=qemu.Machine(memory_mib=160), timeout_seconds=120
    )
    with pytest.raises(RunFailed, match="died") as failure:
        machine.run(vm)
    assert "Out of memory" in str(failure.value)


def test_a_device_that_qemu_refuses() -> None:
    """QEMU ends before the guest says anything: that is no success, and its words are shown."""
    with pytest.raises(RunFailed, match="did not boot") as failure:
        machine.run(Vm("exit 0", machine=qemu.Machine(devices=("-device", "no-such-device"))))
    assert "no-such-device" in str(failure.value)


def test_a_module_that_does_not_load() -> None:
    """The init script gives up, and names the module."""
    with pytest.raises(RunFailed, match="did not boot") as failure:
        machine.run(Vm("exit 0", {"vdisk": "size=5"}))
    assert "size=5 is not a positive multiple" in str(failure.value)
    assert "can't load vdisk" in str(failure.value)


def test_without_qemu_its_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Said before any work."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"apt-get install .*qemu-system-x86"):
        qemu.binary()


def test_without_the_kernel_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """apt knows nothing and nothing is cached: what mends it is apt-get update."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(packages, "META_PACKAGE", "linux-image-of-nobody")
    with pytest.raises(UserError, match="apt-get update"):
        packages.fetch_kernel()


def test_without_a_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The package is known but can't be fetched; no half of it stays in the cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    with pytest.raises(UserError, match=r"can't fetch linux-image-.*check the network"):
        packages.fetch_kernel()
    kept = [path for path in (tmp_path / "understudy" / "kernel").iterdir() if path.is_dir()]
    assert kept == []
