# SPDX-License-Identifier: MIT
"""`lab plug`: a virtual card, and a timed disk, in a team's VM."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import Mock

import lab_images
import lab_linux
import pytest
from lab_class import Class
from places import CHECKOUT

from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import owner, plug
from understudy_devices.lab.agent import Agent
from understudy_devices.lab.devices import Device
from understudy_devices.lab.settings import Settings
from understudy_devices.lab.store import Lab, Team
from understudy_devices.platforms.vm import modules, packages

pytestmark = pytest.mark.thorough

CARD = "pvpanic"
TIMED = (
    "cat /sys/block/vdisk/size /sys/block/vdisk/queue/rotational "
    "/sys/kernel/vpt/vdisk/scale_milli /sys/kernel/vpt/vdisk/seek_curve"
)
FILES = f"ls /run/understudy/cards/{CARD}"
LISTED = "grep -l . /sys/bus/pci/devices/10000:*/vendor"


@pytest.mark.slow
def test_a_card_and_a_disk_are_plugged_into_a_vm_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Class(tmp_path)
    try:
        disk = lab_images.image(tmp_path / "linux.qcow2", b"0".ljust(10), mib=8)
        lab.create(disk, *lab_linux.options(tmp_path, bus=True))
        assert "team01 is off" in lab.refuses("plug", "team01", "--card", CARD)
        assert "no-card" in lab.refuses("plug", "team01", "--card", "no-card")
        lab.start()
        lab.wait_for("up 0")
        file = str(CHECKOUT / "cards" / f"{CARD}.yaml")
        assert f"team01: has the card {file}" in lab.do("plug", "team01", "--card", file)
        with Agent(lab.team().folder, 120) as agent:
            assert "10000:00:00.0/vendor" in agent.run(LISTED, (), 120)
            assert f"{CARD}_registers.h" in agent.run(FILES, (), 120)
        assert f"team01 has the card {CARD} already" in lab.refuses(
            "plug", "team01", "--card", CARD
        )
        assert "an array of disks" in lab.refuses("plug", "team01", "--disk", "array-32")
        done = lab.do("plug", "team01", "--disk", "cheetah-15k4", "--size", "8MiB")
        assert "has the disk cheetah-15k4 as /dev/vdisk" in done
        with Agent(lab.team().folder, 120) as agent:
            read = agent.run(TIMED, (), 120).split()
        assert read[:3] == ["16384", "1", "1000"]
        assert read[3].startswith("0:0")
        assert read[-1].startswith("16384:"), "the seek curve"
        assert "name a --card or a --disk" in lab.refuses("plug", "team01")
        (module := tmp_path / "card_x.ko").write_bytes(b"")
        kernel = packages.fetch_kernel()
        other = packages.Kernel("6.1.0-1-amd64", kernel.version, kernel.folder)
        monkeypatch.setattr(packages, "fetch_kernel", lambda: other)
        monkeypatch.setattr("understudy_devices.platforms.vm.modules.ours", lambda *_: [])
        monkeypatch.setattr(
            "understudy_devices.platforms.vm.modules.ModuleTree.in_load_order",
            lambda *_: [module],
        )
        words = lab.refuses("plug", "team01", "--card", CARD)
        assert f"team01 runs Linux {kernel.release}, and modules are built for 6.1.0-1-" in words
    finally:
        lab.kill()


def test_what_a_disk_may_take(tmp_path: Path) -> None:
    """The VM has 32 MiB."""
    lab = Class(tmp_path)
    lab.create(lab_images.guest(tmp_path))
    words = ("plug", "team01", "--disk", "cheetah-15k4", "--size")
    assert "--size: 17MiB: the disk's data may take half" in lab.refuses(*words, "17MiB")
    assert "team01 is off" in lab.refuses(*words, "16MiB")
    assert "--size goes with --disk" in lab.refuses(
        "plug", "team01", "--card", CARD, "--size", "8MiB"
    )


@pytest.mark.slow
def test_a_guest_without_an_agent_gets_no_card(tmp_path: Path) -> None:
    lab = Class(tmp_path)
    try:
        lab.create(lab_images.guest(tmp_path))
        lab.start()
        assert "no agent has answered in 0 s" in lab.refuses(
            "plug", "team01", "--card", CARD, "--seconds", "0"
        )
    finally:
        lab.kill()


def test_modules_are_read_before_root_acts_as_the_team(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The team may not look into root's cache."""
    order = []
    (module := tmp_path / "card_x.ko").write_bytes(b"")
    read = Path.read_bytes

    def reads(path: Path) -> bytes:
        order.append(path.name)
        return read(path)

    @contextmanager
    def acts(_: Path) -> Iterator[None]:
        order.append("acts")
        raise RunFailed("enough")
        yield

    kernel = packages.Kernel("6.1.0-1-amd64", "1", tmp_path)
    monkeypatch.setattr(packages, "fetch_kernel", lambda: kernel)
    monkeypatch.setattr(modules, "ours", lambda *_: [])
    monkeypatch.setattr(modules, "ModuleTree", lambda *_: Mock(in_load_order=lambda _: [module]))
    monkeypatch.setattr(Path, "read_bytes", reads)
    monkeypatch.setattr(owner, "acting", acts)
    with pytest.raises(RunFailed, match="enough"):
        plug.plug(Team(Lab(tmp_path, Settings()), "team01"), Device("x", {}), 1)
    assert order == ["card_x.ko", "acts"]
