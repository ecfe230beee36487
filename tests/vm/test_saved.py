# SPDX-License-Identifier: MIT
"""A saved machine changes only the duration of a run.

Booted or resumed, a run leaves the same bytes. A saved machine that can't be resumed is deleted,
and the run boots. A saved machine serves only runs that would have booted alike.
"""

import contextlib
import dataclasses
import os
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from guests import MIB, assert_clean, busy_host, experiment, group, raw_run, text

from understudy_devices.ask.experiment import Experiment
from understudy_devices.base import paths
from understudy_devices.base.progress import silent
from understudy_devices.platforms.vm import (
    in_vm,
    machine,
    monitor,
    packages,
    qemu,
    scenario,
    snapshots,
    stages,
    wire,
)
from understudy_devices.platforms.vm.machine import Vm

pytestmark = group("saved")
HELLO = "echo hello > /out/said"
KINDS = ("random", "surge-direct", "surge-buffered")


def own_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a separate folder for saved machines, in a cache that shares all other parts."""
    shared = paths.cache_dir()
    own = folder / "understudy"
    own.mkdir()
    for part in ("kernel", "modules", "programs", "images"):
        (shared / part).mkdir(exist_ok=True)
        (own / part).symlink_to(shared / part)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    packages.fetch_kernel()
    return own / snapshots.FOLDER


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save some machines, to be copied by tests."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        folder = own_cache(tmp_path_factory.mktemp("stock"), monkeypatch)
        for vm in (Vm(HELLO), *(scenario.describe(runs(kind), silent) for kind in KINDS)):
            assert machine.run(vm).start.booted_because is None
        assert len(keys(folder)) == 3
        return folder


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Use a cache without saved machines; check that no half-made one is left."""
    folder = own_cache(tmp_path, monkeypatch)
    yield folder
    left = [path.name for path in folder.glob(".*") if not path.name.endswith(".lock")]
    assert left == []


@pytest.fixture
def with_stock(stock: Path, machines: Path) -> Path:
    """Copy the machines of `stock`."""
    subprocess.run(["cp", "-r", "--sparse=always", stock, machines], check=True)
    return machines


def keys(folder: Path) -> list[str]:
    """List the saved machines."""
    return sorted(path.name for path in folder.glob("[!.]*"))


def runs(kind: str) -> Experiment:
    """Return an experiment with a few requests of a workload."""
    return experiment(
        workload=kind,
        scheduler="cats",
        requests=200,
        processes=1 if kind == "random" else 10,
        virtual_bytes=128 * MIB,
    )


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.slow] * (kind != "surge-direct")) for kind in KINDS],
)
def test_booted_or_resumed_a_run_leaves_the_same_bytes(
    kind: str, with_stock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compare all files of the guest, and check which runs were booted."""
    first, again = raw_run(runs(kind)), raw_run(runs(kind))
    assert first.start == again.start == machine.Start(first.start.saved_machine)

    def refuse(*arguments: Any) -> None:
        raise OSError("as the test wants it")

    monkeypatch.setattr(snapshots, "find", refuse)
    booted = raw_run(runs(kind))
    assert booted.start.booted_because == "it can't be saved: as the test wants it"
    for name, content in first.out.items():
        assert content == again.out[name] == booted.out[name], name


def test_one_machine_serves_all_schedulers_and_seeds(with_stock: Path) -> None:
    """Check that a saved machine contains nothing of a run."""
    for scheduler, seed in (("cats", 1), ("bfq", 2), ("none", 3)):
        run = experiment(scheduler=scheduler, requests=50, virtual_bytes=128 * MIB)
        assert raw_run(dataclasses.replace(run, seed=seed)).start.booted_because is None
    assert len(keys(with_stock)) == 3


class Asked(Exception):  # noqa: N818 - it is caught
    """Raised when a saved machine is looked up; contains its key."""


def key_of(vm: Vm, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the key of the saved machine that would run `vm`."""

    def ask(key: str, *others: Any) -> None:
        raise Asked(key)

    with monkeypatch.context() as patch:
        patch.setattr(snapshots, "find", ask)
        with pytest.raises(Asked) as lookup:
            machine.run(vm)
    return str(lookup.value)


def test_another_machine_is_another_saved_machine(
    with_stock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the key depends on memory, the stage that the machine has run, and
    QEMU's version.
    """
    plain = Vm(HELLO)
    more = dataclasses.replace(plain, machine=qemu.Machine(memory_mib=640))
    ready = dataclasses.replace(plain, ahead=stages.Stage("echo ready > /tmp/ready"))
    lookups = [key_of(vm, monkeypatch) for vm in (plain, more, ready)]
    monkeypatch.setattr(qemu, "identity", lambda machine: [b"another QEMU"])
    lookups.append(key_of(plain, monkeypatch))
    assert len(set(lookups)) == 4
    assert set(lookups) & set(keys(with_stock)) == {lookups[0]}


def test_in_wall_clock_a_machine_is_of_this_boot_of_the_host(
    machines: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the machine is saved and resumed, but not after the host has rebooted."""
    wall = Vm(HELLO, machine=qemu.Machine(clock="wall", cpus=2))
    for _ in range(2):
        result = machine.run(wall)
        assert (result.out["said"], result.start.booted_because) == (b"hello\n", None)
        assert_clean(result.out)
    before = [key_of(vm, monkeypatch) for vm in (wall, Vm(HELLO))]
    assert keys(machines) == before[:1]
    (tmp_path / "boot").write_text("another")
    monkeypatch.setattr(qemu, "HOST_BOOT", tmp_path / "boot")
    after = [key_of(vm, monkeypatch) for vm in (wall, Vm(HELLO))]
    assert (before[0] != after[0], before[1] == after[1]) == (True, True)


@pytest.mark.slow
def test_a_guest_that_booted_on_a_busy_host_counts_seconds(machines: Path) -> None:
    """A guest's sleep takes as long as on the host, or longer.

    A bug once made it a fifth of that.
    """
    sleeper = Vm("sleep 3\n", machine=qemu.Machine(clock="wall", cpus=2, memory_mib=448))
    with contextlib.ExitStack() as stack:
        for _ in range(6):
            stack.enter_context(busy_host())
        machine.run(sleeper)
    began = time.monotonic()
    result = machine.run(sleeper)
    assert time.monotonic() - began > 2.97
    match = re.search(r"tsc_early_khz=(\d+)000\b", text(result, "dmesg"))
    assert match
    assert f"tsc: Detected {match[1]}.000 MHz" in text(result, "dmesg")
    assert result.start.booted_because is None
    assert len(keys(machines)) == 1
    assert_clean(result.out)


def cut_state(folder: Path) -> None:
    """Truncate the state to its first half."""
    os.truncate(folder / "state", (folder / "state").stat().st_size // 2)


def cut_memory(folder: Path) -> None:
    """Truncate the memory to its first half."""
    os.truncate(folder / "memory", (folder / "memory").stat().st_size // 2)


def spoil_memory(folder: Path) -> None:
    """Overwrite the memory with zeros."""
    with (folder / "memory").open("r+b") as memory:
        memory.truncate(0)
        memory.truncate(512 * MIB)


def spoil_state(folder: Path) -> None:
    """Overwrite the state with other text."""
    (folder / "state").write_bytes(b"nonsense")


def lose_state(folder: Path) -> None:
    """Delete the state."""
    (folder / "state").unlink()


@pytest.mark.parametrize("harm", [cut_state, cut_memory, spoil_state, lose_state])
def test_a_broken_saved_machine_is_saved_again(
    harm: Callable[[Path], None], with_stock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the cache notices the damage, and that the machine is saved again and resumed."""
    vm = Vm(HELLO, timeout_seconds=200)
    before = keys(with_stock)
    mine = key_of(vm, monkeypatch)
    harm(with_stock / mine)
    result = machine.run(vm)
    assert result.out["said"] == b"hello\n"
    assert result.start == machine.Start(mine)
    assert keys(with_stock) == before


def test_a_saved_machine_that_cannot_be_resumed_is_thrown_away(
    with_stock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the run would boot, and why.

    The cache checks only the size of such a large file.
    """
    vm = Vm(HELLO, timeout_seconds=200)
    before = keys(with_stock)
    mine = key_of(vm, monkeypatch)
    spoil_memory(with_stock / mine)
    monkeypatch.setattr(machine._Run, "_boot", lambda run, because: because)
    because: Any = machine.run(vm)
    assert because.startswith("the saved machine can't be resumed: ")
    assert keys(with_stock) == [key for key in before if key != mine]


@pytest.mark.slow
def test_who_cannot_resume_leaves_the_same(
    with_stock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the run boots, and that the next one resumes a newly saved machine."""
    vm = Vm(HELLO)
    whole = machine.run(vm)
    spoil_memory(with_stock / whole.start.saved_machine)
    booted, resumed = machine.run(vm), machine.run(vm)
    assert booted.out == whole.out == resumed.out
    assert booted.start.booted_because is not None
    assert resumed.start == whole.start


def test_who_talks_takes_the_same_machine_or_boots(
    with_stock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that a conversation uses the same machine as a run, and deletes it if it can't be
    resumed.
    """
    vm, before = Vm(HELLO), keys(with_stock)
    mine = key_of(vm, monkeypatch)
    for left in (before, [key for key in before if key != mine]):
        with machine.talk(vm) as conversation:
            pass
        assert conversation.out["said"] == b"hello\n"
        assert keys(with_stock) == left
        if mine in left:
            cut_state(with_stock / mine)


def test_two_runs_at_once_share_what_one_of_them_saves(machines: Path) -> None:
    """Check that one run waits for the other, and that both succeed."""
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(machine.run, [Vm(HELLO), Vm(HELLO)]))
    assert results[0].out["said"] == results[1].out["said"]
    assert [result.start.booted_because for result in results] == [None, None]
    assert len(keys(machines)) == 1


def test_a_cache_that_cannot_be_written_boots(machines: Path) -> None:
    """Check that a run works without saved machines."""
    machines.write_text("not a folder")
    result = machine.run(Vm(HELLO))
    assert result.out["said"] == b"hello\n"
    assert "can't be saved" in str(result.start.booted_because)


def test_what_cannot_be_saved_is_not_booted_for_it(
    machines: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that QEMU is asked before the machine is booted."""
    monkeypatch.setattr(monitor.Monitor, "wait_until_stopped", lambda self: pytest.fail("booted"))
    monkeypatch.setattr(machine._Run, "_boot", lambda run, because: because)
    drive = (
        "-blockdev",
        "null-co,node-name=null,size=1048576",
        "-device",
        "nvme,serial=1,drive=null",
    )
    because = machine.run(Vm(HELLO, machine=qemu.Machine(devices=drive)))
    assert re.match(r"it can't be saved: non-migratable device: .*nvme", str(because))
    assert keys(machines) == []


def test_the_oldest_go(machines: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the limit on the cache's size, and that a machine that was just used is kept."""

    def make(saved: snapshots.SavedMachine) -> None:
        saved.memory.write_bytes(b"x" * 10 * 4096)
        saved.state.write_bytes(b"x" * 4096)

    monkeypatch.setattr(snapshots, "BYTES_MAX", 40 * 4096)
    for age, key in enumerate(("one", "two", "three")):
        snapshots.find(key, make)
        os.utime(machines / key, (age, age))
    snapshots.find("one", make)
    snapshots.find("four", make)
    assert keys(machines) == ["four", "one", "three"]


def test_the_line_of_a_dry_run_runs(with_stock: Path) -> None:
    """Check that the command can be run twice, and leaves the run's results in the file
    of `wire`.
    """
    one = experiment(requests=50)
    command = in_vm.dry_run(one)
    for _ in range(2):
        done = subprocess.run(
            shlex.join(command), shell=True, capture_output=True, check=False, timeout=300
        )
        assert done.returncode == 1  # 2 * 0 + 1
    (place,) = (word for word in command if word.startswith("memory-backend-file,id=wire,"))
    out = wire.results(Path(place.partition("mem-path=")[2].partition(",")[0]))
    assert out["records"] == raw_run(one).out["records"]
