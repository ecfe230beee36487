# SPDX-License-Identifier: MIT
"""`lab create --disk --card`: devices that a team's VM has at each boot."""

import os
import re
import shutil
import struct
from pathlib import Path

import lab_images
import lab_linux
import pytest
from lab_class import NAME, Class, students, understudy
from places import CHECKOUT

from understudy_devices.base.errors import UserError
from understudy_devices.cards import specification
from understudy_devices.lab import debian, devices, programs
from understudy_devices.lab.agent import Agent, NoAnswer
from understudy_devices.lab.base_image import Source
from understudy_devices.platforms.vm import packages

pytestmark = pytest.mark.thorough

CARD = "pvpanic"
SEEN = (
    "cat /sys/block/vdisk/size /sys/block/vdisk/queue/rotational "
    "/sys/kernel/vpt/vdisk/scale_milli; ls /sys/bus/pci/devices | grep 10000: "
    f"&& ls /opt/devices/cards/{CARD}"
)
DEVICES = ("--disk", "cheetah-15k4", "--disk-size", "8MiB", "--card", CARD)


def seen(lab: Class, team: str = "team01") -> list[str]:
    """Return what a guest has of the devices."""
    with Agent(lab.team(team).folder, 120) as agent:
        return agent.run(SEEN, (), 120).split()


def refused(folder: Path, *options: str | Path) -> str:
    """Return the line with which `create` refuses these options; nothing is made."""
    words = ("lab", "create", NAME, "--students", students(folder), *options)
    done = understudy(*words, "--folder", folder / "labs")
    assert done.exit_code == 2, done.stdout
    assert done.stderr.count("\n") == 1
    assert not (folder / "labs").exists()
    return done.stderr


def bz_image(path: Path, version: bytes) -> Path:
    """Write what says a kernel's version."""
    place = 0x300
    head = bytearray(0x200 + place)
    head[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", head, 0x20E, place)
    path.write_bytes(bytes(head) + version)
    return path


def test_devices_are_there_at_each_boot(tmp_path: Path) -> None:
    """After a boot, a suspend, and in a machine that was booted once for all."""
    lab = Class(tmp_path)
    try:
        disk = lab_images.image(tmp_path / "linux.qcow2", b"0".ljust(10), mib=8)
        lab.create(disk, *lab_linux.options(tmp_path), *DEVICES)
        lab.start()
        lab.wait_for("up 0")
        there = seen(lab)
        assert there[:3] == ["16384", "1", "1000"]
        assert there[3] == "10000:00:00.0"
        assert {"Makefile", f"{CARD}_registers.h", f"{CARD}_driver.c"} <= set(there[4:])
        with Agent(lab.team().folder, 120) as agent:
            agent.run("echo kept >/dev/vdisk; sync", (), 120)
        lab.do("stop", "team01", "--suspend")
        assert "team01: resumed" in lab.start()
        assert seen(lab) == there
        with Agent(lab.team().folder, 120) as agent:
            assert agent.run("head -n 1 /dev/vdisk", (), 120) == "kept\n"
        assert "has the card pvpanic already" in lab.refuses("plug", "team01", "--card", CARD)
        lab.do("stop", "team01", "--now")
        lab.do("boot-once")
        assert "team02: resumed" in lab.start("team02")
        assert seen(lab, "team02") == there
        assert "no devices" not in lab.log() + lab.log("team02")

        base = lab.team().base()
        assert base.devices
        assert "unchanged" in lab.do("check")
        base.devices.chmod(0o600)
        base.devices.write_bytes(b"x")
        assert "devices: " in lab.refuses("check")
    finally:
        lab.kill()


def test_one_that_is_missing_keeps_no_other_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The console says which; a later try loads what is missing; no such machine is saved."""
    load_line = devices.load_line
    broken = f"[ -e /run/mended ] || insmod none.ko\n{load_line(Path(f'card_{CARD}.ko'), '')}"
    monkeypatch.setattr(
        devices,
        "load_line",
        lambda module, words: broken if CARD in module.name else load_line(module, words),
    )
    lab = Class(tmp_path)
    try:
        disk = lab_images.image(tmp_path / "linux.qcow2", b"0".ljust(10), mib=8)
        lab.create(disk, *lab_linux.options(tmp_path), *DEVICES)
        lab.start()
        lab.wait_for("up 0")
        missing = f"lab-devices: the card {CARD} is missing: insmod: "
        assert missing in lab.log()
        assert "no devices" in lab.log()
        load = f"sh {devices.PLACE}/{devices.LOAD}"
        with Agent(lab.team().folder, 120) as agent:
            disk_of_guest = agent.run(SEEN.partition(";")[0], (), 120).split()
            assert disk_of_guest == ["16384", "1", "1000"]
            with pytest.raises(NoAnswer, match=missing):
                agent.run(load, (), 120)
            agent.run(f"touch /run/mended; {load}", (), 120)
        assert seen(lab)[:4] == [*disk_of_guest, "10000:00:00.0"]
        words = lab.refuses("boot-once")
        assert missing in words
        assert re.search(r"the console's last line: (no devices|up 0)", words)
    finally:
        lab.kill()


def test_equal_devices_give_equal_drives(tmp_path: Path) -> None:
    kernel = packages.fetch_kernel()
    images = []
    for name in ("one", "two"):
        devices.write([devices.card(CARD)], kernel, tmp_path / name)
        images.append((tmp_path / name).read_bytes())
    assert images[0] == images[1]


def test_a_base_with_another_kernel_is_refused(tmp_path: Path) -> None:
    kernel = packages.fetch_kernel()
    assert devices.release_of(kernel.packed_image) == kernel.release
    disk = lab_images.image(tmp_path / "linux.qcow2", b"0".ljust(10), mib=8)
    other = bz_image(tmp_path / "vmlinuz", b"5.10.0-1-amd64 (x@y) #1 SMP\0")
    base = ("--base", disk, "--card", CARD)
    words = refused(tmp_path, *base, "--kernel", other)
    assert (
        f"Linux 5.10.0-1-amd64, and modules for --disk and --card are built for {kernel.release}"
        in words
    )
    assert "not known before it boots: name it by --kernel" in refused(
        tmp_path, "--base", lab_images.guest(tmp_path), "--card", CARD
    )
    shutil.copyfile(disk, tmp_path / "odd")
    assert "a kernel that does not say its version" in refused(
        tmp_path, *base, "--kernel", tmp_path / "odd"
    )
    assert "not a file" in refused(tmp_path, *base, "--kernel", tmp_path / "none")


@pytest.mark.parametrize("version", [b"", b"6.1", b"\xff\xfe x\0", b"\0"])
def test_an_odd_version_is_none(tmp_path: Path, version: bytes) -> None:
    with pytest.raises(UserError, match="does not say its version"):
        devices.release_of(bz_image(tmp_path / "vmlinuz", version))


@pytest.mark.parametrize("size_bytes", [0, 0x206, 0x20F, 0x263])
def test_a_kernel_that_is_cut_off_is_none(tmp_path: Path, size_bytes: int) -> None:
    kernel = bz_image(tmp_path / "vmlinuz", b"6.1.0 (x@y) #1 SMP\0")
    assert devices.release_of(kernel) == "6.1.0"
    os.truncate(kernel, size_bytes)
    with pytest.raises(UserError, match="does not say its version"):
        devices.release_of(kernel)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--card", "zach2"), 'did you mean "zach1"?'),
        (("--disk", "cheetah"), "cheetah-15k4"),
        (("--disk", "array-32"), "an array of disks; name one disk"),
        (("--disk", "cheetah-15k4", "--disk-size", "many"), "--disk-size"),
        (
            ("--disk", "cheetah-15k4", "--disk-size", "257MiB"),
            "half of the guest's memory, which has",
        ),
        (("--disk", "cheetah-15k4", "--memory", "96MiB"), "64MiB: the disk's data may take half"),
        (("--card", CARD, "--disk-size", "8MiB"), "--disk-size goes with --disk"),
        (("--disk-size", "8MiB"), "--disk-size goes with --disk"),
    ],
)
def test_devices_that_are_refused(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    base = ("--base", lab_images.guest(tmp_path))
    assert words in refused(tmp_path, *base, *options)


@pytest.mark.parametrize("place", [f"drivers/{CARD}_driver.h", f"{CARD}.c", f"{CARD}/more.c"])
def test_only_ordinary_files_beside_a_card_are_read(tmp_path: Path, place: str) -> None:
    """Root may make a lab with a card from a folder that a team can write to."""
    secret = tmp_path / "secret" / Path(place).name
    secret.parent.mkdir()
    secret.write_text("what only root may read")
    card = tmp_path / "team" / f"{CARD}.yaml"
    file = card.parent / place
    file.parent.mkdir(parents=True)
    shutil.copyfile(CHECKOUT / "cards" / card.name, card)
    device, kernel = devices.card(str(card)), packages.fetch_kernel()

    def why_not() -> str:
        with pytest.raises(UserError) as refusal:
            device.files() if place.startswith("drivers") else device.modules(kernel)
        return str(refusal.value)

    file.symlink_to(secret)
    assert f"{file}: a link, and not a file; a card's files are ordinary ones" in why_not()
    file.unlink()
    os.mkfifo(file)
    assert f"{file}: not a file; a card's" in why_not()
    file.unlink()
    with file.open("wb") as large:
        large.truncate(2**20 + 1)
    assert f"{file}: File too large; a card's files are ordinary ones, of at most 1" in why_not()
    file.write_bytes(b"\xff")
    if place.startswith("drivers"):
        assert f"{file}: not text in UTF-8" in why_not()
    if place != f"{CARD}.c":
        shutil.rmtree(file.parent)
        file.parent.symlink_to(secret.parent)
        assert f"{file.parent}: not a folder, or a link to one" in why_not()


def test_a_specification_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "link.yaml").symlink_to(specification.file_of(CARD))
    base = ("--base", lab_images.guest(tmp_path))
    for name, words in (("pipe", "not a file"), ("link", "a link, and not a file")):
        line = refused(tmp_path, *base, "--card", tmp_path / f"{name}.yaml")
        assert f"{name}.yaml: {words}" in line


def test_devices_of_a_base_of_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its kernel is known when it is made."""
    disk = lab_images.image(tmp_path / "linux.qcow2", b"0".ljust(10), mib=8)
    kernels = [
        bz_image(tmp_path / "vmlinuz", b"5.10.0-1-amd64 (x@y) #1 SMP\0"),
        packages.fetch_kernel().packed_image,
    ]
    made = [Source(disk, kernel) for kernel in kernels]
    monkeypatch.setattr(debian, "build", lambda *_: made.pop(0))
    assert "Linux 5.10.0-1-amd64, and modules" in refused(
        tmp_path, "--base", "debian", "--card", CARD
    )
    lab = Class(tmp_path)
    lab.create(Path("debian"), "--card", CARD, "--card", CARD)
    assert lab.team().base().devices


@pytest.mark.parametrize(
    ("packages_there", "is_old"),
    [
        (b"linux-image-amd64 6.1\nmake 4.3\n", True),
        (b"linux-image-amd64 6.1\npciutils 1:3.9\n", False),
        (b"make 4.3\n", False),
        (b"\xff", False),
        (None, False),
    ],
)
def test_a_debian_base_without_the_unit_is_named(
    tmp_path: Path, packages_there: bytes | None, is_old: bool
) -> None:
    """The list of packages beside an image says how old it is."""
    disk = lab_images.image(tmp_path / "linux.qcow2", b"0".ljust(10), mib=8)
    if packages_there is not None:
        (tmp_path / "packages").write_bytes(packages_there)
    words = ("lab", "create", NAME, "--students", students(tmp_path), "--base", disk)
    kernel = packages.fetch_kernel().packed_image
    more = ("--kernel", kernel, "--card", CARD, "--folder", tmp_path / "labs")
    done = understudy(*words, *more)
    assert done.exit_code == 0, done.stderr
    assert ("before --base debian had the unit lab-devices" in done.stderr) == is_old


def test_a_missing_tool_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "path", lambda _: None)
    words = refused(tmp_path, "--base", lab_images.guest(tmp_path), "--card", CARD)
    assert "--disk, --card: no mke2fs here: apt-get install" in words


def test_a_rebase_names_its_devices(tmp_path: Path) -> None:
    lab = Class(tmp_path)
    disk = lab_images.image(tmp_path / "linux.qcow2", b"0".ljust(10), mib=8)
    options = lab_linux.options(tmp_path)
    lab.create(disk, *options)
    assert "--disk, --card go with --base" in lab.refuses("rebase", "--card", CARD)
    assert "go with --base" in lab.refuses("rebase", "--disk-size", "8MiB")
    words = ("--base", str(disk), *options[: options.index("--memory")])
    lab.do("rebase", *words, "--card", CARD)
    assert lab.team().base().devices
    for team in ("team01", "team02"):
        lab.do("drop", team)
    assert "note: without --disk and --card" in lab.do("rebase", *words)
    assert lab.team().base().devices is None
