# SPDX-License-Identifier: MIT
"""`understudy lab create`: what a lab is made from, and what is refused; nothing is half made."""

import os
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import lab_images
import pytest
from lab_class import NAME, Class, students, understudy

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.lab import (
    base_image,
    changes,
    disk_use,
    from_raw,
    locks,
    overlay,
    owner,
    qcow2,
    quota,
    sealed,
    status,
    verity,
)
from understudy_devices.lab.base_image import Source

BOOT = b"\x90" * 510 + b"\x55\xaa"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return lab_images.image(tmp_path / "base.qcow2", BOOT)


def patched(path: Path, at: int, data: bytes) -> Path:
    """Overwrite bytes of a file."""
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)
    return path


def test_a_lab_has_a_sealed_base_and_small_clones(tmp_path: Path, base: Path) -> None:
    made = Class(tmp_path)
    made.create(base, count=20)
    lab = made.team().lab
    assert [team.name for team in lab.teams()] == [f"team{n:02}" for n in range(1, 21)]
    (sealed_base,) = lab.bases()
    assert sealed_base.disk.read_bytes() == base.read_bytes()
    assert sealed_base.disk.stat().st_mode & 0o222 == 0
    assert sealed_base.seals["disk.qcow2"].size == base.stat().st_size
    for team in lab.teams():
        assert sum(path.stat().st_blocks * 512 for path in team.folder.iterdir()) < 300_000
        assert team.base() == sealed_base
    assert [path.name for path in made.labs.iterdir()] == [NAME]


def test_a_team_cannot_look_into_the_folder_of_another(
    tmp_path: Path, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And everybody may read what all teams need, whatever the umask."""
    made = Class(tmp_path)
    before = os.umask(0o077)
    try:
        made.create(base)
        changes.add_base(made.team().lab, Source(base))
    finally:
        os.umask(before)
    lab = made.labs / NAME
    for name in ("", "teams", "bases", "bases/1", "bases/2"):
        assert (lab / name).stat().st_mode & 0o777 == 0o755, name
    for name in ("lab.json", ".lock", "bases/1/manifest.json", "bases/2/manifest.json"):
        assert (lab / name).stat().st_mode & 0o777 == 0o644, name
    for team in made.team().lab.teams():
        assert team.folder.stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(owner, "may_act", lambda folder: folder.name != "team02")
    assert [each.state for each in status.of_lab(made.team().lab)] == ["off", "private"]


def test_a_clone_is_what_the_format_says(tmp_path: Path, base: Path) -> None:
    overlay.write(tmp_path / "clone.qcow2", "base.qcow2", 2**40)
    with qcow2.Image(tmp_path / "clone.qcow2") as image:
        image.check_complete()
        assert image.header.backing == "base.qcow2"
        assert image.header.virtual_bytes == 2**40
        assert image.header.l1_entries == 2048
        assert image.read(2**39, 512) == bytes(512)


def test_an_image_has_the_content_of_the_raw_one(tmp_path: Path) -> None:
    """In any cluster, and in the last one, which is not whole."""
    raw = tmp_path / "raw"
    places = (0, 70_000, 5 * 2**20, 600 * 2**20, 601 * 2**20)
    with raw.open("wb") as file:
        for place in places:
            file.seek(place)
            file.write(place.to_bytes(8, "little") + b"x")
        file.truncate(601 * 2**20 + 1024)
    from_raw.write(raw, tmp_path / "image.qcow2")
    with qcow2.Image(tmp_path / "image.qcow2") as image:
        image.check_complete()
        assert image.header.virtual_bytes == raw.stat().st_size
        for place in places:
            assert image.read(place, 9) == place.to_bytes(8, "little") + b"x"
        assert image.read(300 * 2**20, 512) == bytes(512)


def test_a_compressed_cluster_is_read(tmp_path: Path, base: Path) -> None:
    """As qemu-img convert -c writes it: the first cluster is moved to the end, and deflated."""
    with qcow2.Image(base) as image:
        first = b"".join(image.read(place, 4096) for place in range(0, 65536, 4096))
        (table,) = struct.unpack(">Q", base.read_bytes()[image.header.l1_at :][:8])
    packer = zlib.compressobj(wbits=-12)
    packed = packer.compress(first) + packer.flush()
    at = base.stat().st_size
    patched(base, at, packed)
    sectors = (at % 512 + len(packed) - 1) // 512
    entry = 1 << 62 | sectors << 54 | at
    patched(base, table & qcow2.OFFSET, struct.pack(">Q", entry))
    with qcow2.Image(base) as image:
        assert image.read(0, 512) == BOOT
        image.check_complete()


def header(name: str, value: int) -> Callable[[Path], object]:
    """Return a function that sets a field of an image's header."""
    at, size = {
        "version": (4, 4),
        "bits": (20, 4),
        "crypt": (32, 4),
        "l1_size": (36, 4),
        "features": (72, 8),
    }[name]
    return lambda path: patched(path, at, value.to_bytes(size, "big"))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: path.write_bytes(bytes(2**20)), "no qcow2 image, but perhaps a raw one"),
        (lambda path: path.write_bytes(b"KDMV" + bytes(999)), "but a VMDK image"),
        (lambda path: path.write_bytes(b""), "an empty file"),
        (lambda path: os.truncate(path, 50), "truncated: it has 50 bytes"),
        (lambda path: os.truncate(path, 100), "truncated: it has 100 bytes"),
        (lambda path: os.truncate(path, 2 * 65536), "truncated: it has 131,072 bytes"),
        (lambda path: os.truncate(path, path.stat().st_size - 65536), "truncated"),
        (lambda path: path.unlink(), "No such file"),
        (lambda path: patched(path, 65536, bytes(8)), "not bootable: its first sector"),
        (header("version", 4), "qcow2 of version 4"),
        (header("bits", 40), "its header makes no sense"),
        (header("l1_size", 0), "its L1 table is too short"),
        (header("crypt", 1), "it is encrypted"),
        (header("features", 1), "QEMU has not closed it"),
        (header("features", 2), "marked it as corrupt"),
        (header("features", 4), "its data is in another file"),
        (header("features", 16), "extended L2 entries"),
        (header("features", 32), "a feature that is not known here"),
    ],
)
def test_a_base_that_cannot_be_cloned_is_refused(
    tmp_path: Path, base: Path, spoil: Callable[[Path], object], words: str
) -> None:
    spoil(base)
    done = understudy(
        *("lab", "create", NAME, "--base", base, "--students", students(tmp_path)),
        *("--folder", tmp_path / "labs"),
    )
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "labs").exists()


@pytest.mark.parametrize(
    ("first", "words"),
    [
        (bytes(512), "does not end with 55 AA"),
        (bytes(510) + b"\x55\xaa", "a partition table but no code"),
        (bytes(510) + b"\x55\xaaEFI PART", "boots only with UEFI"),
    ],
)
def test_a_base_that_does_not_boot_is_refused(tmp_path: Path, first: bytes, words: str) -> None:
    """It is accepted with a kernel, which needs no boot loader."""
    base = lab_images.image(tmp_path / "base.qcow2", first)
    words_of = ("lab", "create", NAME, "--base", base, "--students", students(tmp_path))
    done = understudy(*words_of, "--folder", tmp_path / "labs")
    assert done.exit_code == 2
    assert words in done.stderr
    (tmp_path / "vmlinuz").write_bytes(b"kernel")
    done = understudy(*words_of, "--folder", tmp_path / "labs", "--kernel", tmp_path / "vmlinuz")
    assert done.exit_code == 0, done.stderr


def test_a_base_of_more_than_4_tib_is_refused(tmp_path: Path, base: Path) -> None:
    patched(base, 24, struct.pack(">Q", 2**42 + 512))
    patched(base, 36, struct.pack(">I", 2**13 + 1))
    with pytest.raises(UserError, match="more than 4 TiB"):
        Source(base).check()


def test_files_that_vanish_end_no_command(
    tmp_path: Path, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Class(tmp_path)
    made.create(base, "--quota", "1GiB")
    team = made.team()
    gone = [team.folder / name for name in ("gone", "snapshot-gone.qcow2")]
    listed = [*team.folder.iterdir(), *gone]
    monkeypatch.setattr(Path, "iterdir", lambda path: iter(listed))
    monkeypatch.setattr(Path, "glob", lambda path, pattern: iter(gone))
    monkeypatch.setattr(Path, "is_file", lambda path: True)
    assert status.of_team(team).state == "off"
    assert quota.room(team) == 2**30
    assert disk_use.of(team.lab).teams[0].snapshot_bytes == 0


def test_a_base_that_a_vm_uses_is_refused(tmp_path: Path, base: Path) -> None:
    with locks.image(base):
        done = understudy(
            *("lab", "create", NAME, "--base", base, "--students", students(tmp_path)),
            *("--folder", tmp_path / "labs"),
        )
    assert done.exit_code == 2
    assert "a VM writes to it: end that VM first" in done.stderr
    assert not (tmp_path / "labs").exists()


def test_a_base_that_is_spoiled_while_it_is_copied_is_refused(
    tmp_path: Path, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sealed.copy

    def copy(source: Path, target: Path) -> sealed.Seal:
        header("features", 1)(source)
        return whole(source, target)

    monkeypatch.setattr(sealed, "copy", copy)
    with pytest.raises(UserError, match="QEMU has not closed it"):
        base_image.seal(Source(base), tmp_path / "sealed")


def test_an_overlay_of_another_base_is_refused(tmp_path: Path, base: Path) -> None:
    overlay.write(tmp_path / "overlay.qcow2", "base.qcow2", 2**26)
    with pytest.raises(UserError, match=r"an overlay of base\.qcow2"):
        Source(tmp_path / "overlay.qcow2").check()


def test_nothing_is_made_if_a_student_is_wrong(tmp_path: Path, base: Path) -> None:
    file = students(tmp_path)
    file.write_text(file.read_text() + "team01,Eve,s1@example.org\n")
    done = understudy(
        *("lab", "create", NAME, "--base", base, "--students", file, "--folder", tmp_path / "labs")
    )
    assert done.exit_code == 2
    assert '"s1@example.org" is also on line 2' in done.stderr
    assert not (tmp_path / "labs").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--memory", "1MiB"), "--memory: 1MiB is outside 32MiB"),
        (("--quota", "some"), "--quota: some is not a size"),
        (("--initrd", "students.csv"), "--initrd and --kernel-arguments go with --kernel"),
        (("--kernel", "vmlinux"), "vmlinux: not a file"),
    ],
)
def test_odd_options_are_refused(
    tmp_path: Path,
    base: Path,
    options: tuple[str, ...],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    students(tmp_path)
    done = understudy("lab", "create", NAME, "--base", base, "--students", "students.csv", *options)
    assert done.exit_code == 2
    assert words in done.stderr
    assert not Path("labs").exists()


def test_names_are_checked(tmp_path: Path, base: Path) -> None:
    made = Class(tmp_path)
    made.create(base)
    words = ("--base", base, "--students", students(tmp_path), "--folder", made.labs)
    assert "already there" in understudy("lab", "create", NAME, *words).stderr
    assert 'lab "../x": write 1 to 32' in understudy("lab", "create", "../x", *words).stderr
    unknown = understudy("lab", "status", "os82", "--folder", made.labs)
    assert 'unknown lab "os82": did you mean "os822"?' in unknown.stderr
    assert 'unknown team "team3"' in made.refuses("stop", "team3")


def test_a_damaged_lab_is_named(tmp_path: Path, base: Path) -> None:
    made = Class(tmp_path)
    made.create(base)
    file = made.labs / NAME / "lab.json"
    for content in ("", file.read_text()[:-9], "[]", "{}"):
        file.write_text(content)
        assert f"{file}: damaged: take it from a backup" in made.refuses("status")


# The seal.


def test_a_base_that_changed_is_noticed(tmp_path: Path, base: Path) -> None:
    """By its size or time stamp at once; a byte between the samples by comparing everything."""
    target = tmp_path / "sealed"
    seal = sealed.copy(base, target)
    sealed.check_quickly(target, seal, "lab check")
    assert sealed.check_fully(target, seal) == seal
    target.chmod(0o600)
    patched(target, 100_000, b"?")
    with pytest.raises(RunFailed, match=r"written to, copied or moved.*: lab check"):
        sealed.check_quickly(target, seal, "lab check")
    with pytest.raises(RunFailed, match=r"SHA-256 differs.*from a backup"):
        sealed.check_fully(target, seal)
    os.utime(target, ns=(seal.mtime_ns, seal.mtime_ns))
    patched(target, 5, b"?")
    os.utime(target, ns=(seal.mtime_ns, seal.mtime_ns))
    with pytest.raises(RunFailed, match=r"changed since it was sealed .other bytes"):
        sealed.check_quickly(target, seal, "lab check")
    os.truncate(target, seal.size - 1)
    with pytest.raises(RunFailed, match="bytes, now"):
        sealed.check_quickly(target, seal, "lab check")
    target.unlink()
    with pytest.raises(RunFailed, match="No such file"):
        sealed.check_quickly(target, seal, "lab check")


def test_a_lab_that_was_copied_is_accepted_after_a_check(tmp_path: Path, base: Path) -> None:
    made = Class(tmp_path)
    made.create(base)
    (base_of_lab,) = made.team().lab.bases()
    other = base_of_lab.disk.with_name("copy")
    other.write_bytes(base_of_lab.disk.read_bytes())
    other.replace(base_of_lab.disk)
    with pytest.raises(RunFailed, match=r"written to, copied or moved"):
        made.team().base().check_quickly("lab check")
    assert "unchanged" in made.do("check")
    made.team().base().check_quickly("lab check")
    other.write_bytes(bytes(100))
    other.replace(base_of_lab.disk)
    assert "changed since it was sealed" in made.refuses("check")


def test_a_copy_without_fs_verity_is_compared(tmp_path: Path, base: Path) -> None:
    """A file system may have fs-verity and that of the backup none."""
    seal = replace(sealed.copy(base, tmp_path / "sealed"), verity="digest")
    sealed.copy(base, tmp_path / "copy")
    with pytest.raises(RunFailed, match=r"copied or moved since it was sealed: lab check"):
        sealed.check_quickly(tmp_path / "copy", seal, "lab check")
    with pytest.raises(RunFailed, match="fs-verity has another digest"):
        sealed.check_quickly(tmp_path / "sealed", seal, "lab check")
    assert sealed.check_fully(tmp_path / "copy", seal).sha256 == seal.sha256


def test_holes_stay_holes(tmp_path: Path) -> None:
    source = tmp_path / "source"
    with source.open("wb") as file:
        file.seek(9 * 2**20)
        file.write(b"end")
    seal = sealed.copy(source, tmp_path / "target")
    assert seal.size == 9 * 2**20 + 3
    assert (tmp_path / "target").read_bytes() == source.read_bytes()
    assert (tmp_path / "target").stat().st_blocks * 512 < 2**20


def test_a_file_system_without_verity_is_no_mistake(tmp_path: Path) -> None:
    """The kernel's digest counts where there is one."""
    file = tmp_path / "file"
    file.write_bytes(b"content")
    assert verity.enable(file) == (verity.digest(file) is not None)
