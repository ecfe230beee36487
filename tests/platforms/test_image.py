# SPDX-License-Identifier: MIT
"""The file system that SURGE reads: file sizes, extents, and whether it is a sound ext4."""

import hashlib
import multiprocessing
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from understudy_devices.base import programs
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.files import image
from understudy_devices.platforms import guest_programs

pytestmark = pytest.mark.thorough

MIB = 2**20
SMALL = 96 * MIB
DEFAULT = 1536 * MIB
TOOLS = os.environ["PATH"] + ":/usr/sbin:/sbin"


@pytest.fixture(autouse=True, scope="module")
def _e2fsprogs() -> None:
    """Fail early without e2fsprogs, since these tests examine images with its tools."""
    assert shutil.which("mke2fs", path=TOOLS), "no mke2fs: apt-get install -y e2fsprogs"


def silent(phase: str, fraction: float) -> None:
    """Ignore progress reports."""


def run(*command: str | Path, script: str = "") -> "subprocess.CompletedProcess[str]":
    """Run a tool and capture its output."""
    environment = os.environ | {"PATH": TOOLS}
    return subprocess.run(
        command, input=script, capture_output=True, text=True, env=environment, check=False
    )


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point the cache to an empty folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "understudy"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, image.Layout]:
    """Make a raw image of the default size."""
    return image.make_raw(tmp_path_factory.mktemp("raw"), DEFAULT, 1, silent)


def assert_clean(raw: Path) -> None:
    """Check every structure with e2fsck."""
    checked = run("e2fsck", "-fn", raw)
    assert checked.returncode == 0, checked.stdout


def stat_of(raw: Path, *paths: str) -> str:
    """Return what debugfs prints about these files."""
    script = "".join(f"stat {path}\n" for path in paths)
    return run("debugfs", "-f", "-", raw, script=script).stdout


# Sizes.


def test_sizes_follow_the_papers_mixture() -> None:
    """Check the share of large files, the mean and the medians."""
    sizes = image.draw_sizes(np.random.default_rng(7), 1_000_000, int(73.4e9))
    large = sizes >= image.LARGE_BYTES
    assert large.mean() == pytest.approx(0.032, abs=0.001)
    assert sizes.mean() == pytest.approx(44_000, rel=0.05)
    assert np.median(sizes) == pytest.approx(np.exp(image.LOG_MEAN), rel=0.01)
    assert np.median(sizes[large]) == pytest.approx(133_000 * 2 ** (1 / 1.1), rel=0.02)
    assert sizes.min() >= 1
    assert sizes.max() == image.CUT_BYTES


def test_no_file_takes_more_than_a_sixteenth_of_a_small_disk() -> None:
    """Check the largest file; this limit is ours and not the papers'."""
    sizes = image.draw_sizes(np.random.default_rng(7), 100_000, SMALL)
    assert sizes.max() == SMALL // 16


@pytest.mark.parametrize(
    ("virtual_bytes", "files"),
    [(int(73.4e9), 1_000_000), (DEFAULT, 21_943), (16 * MIB, 229)],
)
def test_number_of_files_scales_with_the_disk(virtual_bytes: int, files: int) -> None:
    """Check that a disk of the papers' size has a million files, and smaller ones a fraction."""
    assert image.file_count(virtual_bytes) == files


@pytest.mark.parametrize("virtual_bytes", [-1, 0, 16 * MIB - 1, 10**12])
def test_impossible_disks_are_refused(virtual_bytes: int) -> None:
    """Check that the message names the range."""
    with pytest.raises(UserError, match="SURGE needs 16777216 to"):
        image.build(virtual_bytes, silent, 1)


def test_a_draw_that_does_not_fit_is_refused(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that nothing stays in the cache."""
    monkeypatch.setattr(image, "LOG_MEAN", image.LOG_MEAN + 2)
    with pytest.raises(UserError, match="take another --virtual-size"):
        image.build(SMALL, silent, 1)
    assert list((own_cache / "images").glob("[!.]*")) == []


def test_paths_have_two_levels_of_small_directories() -> None:
    """Check a full-size set: at most 100 entries in each directory."""
    files = 1_000_000
    paths = [image.file_path(index, files) for index in range(0, files, 997)]
    assert all(path.count("/") == 2 for path in paths)
    assert image.file_path(0, files) == "d00/d00/f0000000"
    assert image.file_path(1, files) == "d00/d01/f0000001"
    assert image.file_path(999_999, files) == "d99/d99/f0999999"
    assert image.leaf_count(files) == 10_000
    assert image.leaf_count(1) == 1


# The image.


def test_the_image_is_sound_and_about_as_full_as_the_papers(
    built: tuple[Path, image.Layout],
) -> None:
    """Check e2fsck's verdict, the number of files and the used share of the disk."""
    raw, layout = built
    assert_clean(raw)
    assert len(layout.size) == 21_943
    used = layout.length.sum() * image.BLOCK_BYTES / DEFAULT
    assert 0.45 < used < 0.75


def test_extents_are_initialised_and_where_the_layout_says(
    built: tuple[Path, image.Layout],
) -> None:
    """Check a sample of files and the most fragmented files."""
    raw, layout = built
    extents = np.diff(layout.first)
    sample = [*range(0, 21_943, 800), *np.argsort(extents)[-5:].tolist()]
    for index in sample:
        output = stat_of(raw, image.file_path(index, 21_943))
        assert "(uninit" not in output.lower()
        assert f"Inode: {layout.inode[index]} " in output
        assert f"Size: {layout.size[index]}\n" in output
        first, last = layout.first[index], layout.first[index + 1]
        for start, length in zip(layout.start[first:last], layout.length[first:last], strict=True):
            end = f"-{start + length - 1}" if length > 1 else ""
            assert f":{start}{end}" in output


def test_erasing_half_leaves_fragments(built: tuple[Path, image.Layout]) -> None:
    """Check that some files are in several extents and most are in one."""
    extents = np.diff(built[1].first)
    assert 0.02 < (extents > 1).mean() < 0.3


def test_files_do_not_overlap_and_have_all_their_blocks(
    built: tuple[Path, image.Layout],
) -> None:
    """Check the layout alone, without the image."""
    layout = built[1]
    order = np.argsort(layout.start)
    ends = (layout.start + layout.length)[order]
    assert (layout.start[order][1:] >= ends[:-1]).all()
    blocks = np.add.reduceat(layout.length, layout.first[:-1])
    assert (blocks == -(-layout.size // image.BLOCK_BYTES)).all()


def test_popular_files_lie_all_over_the_disk(built: tuple[Path, image.Layout]) -> None:
    """Check the first hundred files, which get half of all accesses."""
    layout = built[1]
    places = layout.start[layout.first[:100]] / (DEFAULT / image.BLOCK_BYTES)
    assert len(np.unique((places * 12).astype(int))) >= 10


def test_two_builds_are_equal_to_the_byte(own_cache: Path) -> None:
    """Check every file in the cache, and that another seed results in another image."""
    first = image.build(SMALL, silent, 5)
    content = {path.name: path.read_bytes() for path in first.folder.iterdir()}
    assert set(content) == {"blocks.bin", "layout.npz", "facts.json"}
    shutil.rmtree(own_cache)
    again = image.build(SMALL, silent, 5)
    assert {path.name: path.read_bytes() for path in again.folder.iterdir()} == content
    other = image.build(SMALL, silent, 6)
    assert other.folder != first.folder
    assert other.blocks.read_bytes() != content["blocks.bin"]


def test_the_second_build_comes_from_the_cache(own_cache: Path) -> None:
    """Check that the second build reports no work."""
    first = image.build(SMALL, silent, 5)
    phases: list[str] = []
    assert image.build(SMALL, lambda phase, fraction: phases.append(phase), 5) == first
    assert phases == []
    assert first.folder.is_relative_to(own_cache)


def test_two_processes_may_build_at_once(own_cache: Path) -> None:
    """Check that all processes get the same complete image."""
    # A fork of a process with threads, as a test's process is, may wait for ever.
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        built, *others = pool.starmap(image.build, 3 * [(SMALL, print, 5)])
    assert others == [built, built]
    assert len(list((own_cache / "images").glob("[!.]*"))) == 1
    assert len(built.files()) > 100


def test_progress_runs_from_0_to_1(own_cache: Path) -> None:
    """Check that the reported fraction never decreases."""
    seen: list[float] = []
    image.build(DEFAULT, lambda phase, fraction: seen.append(fraction), 3)
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0.0, 1.0)
    assert len(seen) > 5


def test_restored_blocks_are_the_file_system(own_cache: Path, tmp_path: Path) -> None:
    """Check that restore writes a clean disk from the compact image."""
    built = image.build(SMALL, silent, 5)
    disk = tmp_path / "disk"
    with disk.open("wb") as empty:
        empty.truncate(built.facts.image_bytes)
    restore = programs.compiled(guest_programs.program("restore"))
    done = run(restore, built.blocks, disk)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) == built.facts.metadata_blocks
    assert hashlib.sha256(built.blocks.read_bytes()).hexdigest() == built.facts.blocks_sha256
    assert_clean(disk)
    path, size = built.files()[17]
    assert f"Size: {size}\n" in stat_of(disk, path)
    assert built.blocks.stat().st_size < SMALL / 50


def test_no_mke2fs_is_said_with_the_command_that_mends_it(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, path=None: None)
    with pytest.raises(UserError, match="no mke2fs here: apt-get install e2fsprogs"):
        image._tool("mke2fs")


def test_a_failing_mkfiles_fails_the_build(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the user sees mkfiles' message, and that the cache stays empty."""
    monkeypatch.setattr(image, "_script", lambda *_: iter(["d a\n", "d a\n"]))
    with pytest.raises(RunFailed, match="script line 2: it exists already"):
        image.build(SMALL, silent, 5)
    assert list((own_cache / "images").glob("[!.]*")) == []
    assert list((own_cache / "images").glob(".*.[!l]*")) == []


# mkfiles by itself.


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """Make an empty ext4 of 16 MiB."""
    raw = tmp_path / "disk.img"
    image.make_file_system(tmp_path, raw, 4096, 1, 286)
    return raw


def mkfiles(raw: Path, script: str) -> "subprocess.CompletedProcess[str]":
    """Run mkfiles on a script."""
    return run(programs.compiled(image.MKFILES), raw, script=script)


def test_mkfiles_makes_what_the_script_says(fresh: Path) -> None:
    """Check sizes around a block, an empty file, erased files and a big directory."""
    sizes = [0, 1, 4095, 4096, 4097, 123_456]
    lines = ["d a", "d a/b", *(f"f a/b/{size} {size}" for size in sizes)]
    lines += ["e a/b/4096", "f a/b/4096 8192", "f top 1"]
    lines += [f"f a/{index:0100d} 0" for index in range(100)]
    done = mkfiles(fresh, "\n".join([*lines, "l a/b/4096", "l a/b/0", "end", ""]))
    assert (done.returncode, done.stderr) == (0, "")
    place, empty, last = done.stdout.splitlines()
    assert place.split()[1:3] == ["8192", "2"]  # the first fit is the hole
    assert empty.split()[1:] == ["0", "0"]
    assert last == "done 107"
    assert_clean(fresh)
    assert "Size: 123456\n" in stat_of(fresh, "a/b/123456")


def test_erasing_all_gives_every_block_back(fresh: Path) -> None:
    """Erase small files and one file in many extents, and check the free blocks."""
    before = run("dumpe2fs", "-h", fresh).stdout
    small = [f"{index:03d}" for index in range(150)]
    lines = [f"f {name} 4096" for name in small] + [f"e {name}" for name in small[::2]]
    lines += ["f pieces 4000000", "e pieces"] + [f"e {name}" for name in small[1::2]]
    done = mkfiles(fresh, "\n".join([*lines, "end", ""]))
    assert done.returncode == 0, done.stderr
    after = run("dumpe2fs", "-h", fresh).stdout
    free = [line for line in before.splitlines() if line.startswith("Free")]
    assert [line for line in after.splitlines() if line.startswith("Free")] == free
    assert_clean(fresh)


def test_the_last_block_of_the_disk_can_be_given_and_taken(fresh: Path) -> None:
    """Fill the disk to its last block (a trap of libext2fs)."""
    before = run("dumpe2fs", "-h", fresh).stdout
    free = next(line for line in before.splitlines() if line.startswith("Free blocks"))
    blocks = int(free.split()[-1])
    lines = [f"f big {(blocks - 2) * 4096}", "f a 4096", "f b 4096", "l big", "l a", "l b"]
    done = mkfiles(fresh, "\n".join([*lines, "f c 1", "end", ""]))
    assert "script line 7: give the file its blocks: No space left" in done.stderr
    places = [[int(word) for word in line.split()] for line in done.stdout.splitlines()]
    ends = [s + n for place in places for s, n in zip(place[3::2], place[4::2], strict=True)]
    assert max(ends) == 4096
    image.make_file_system(fresh.parent, fresh, 4096, 1, 286)
    done = mkfiles(fresh, "\n".join([*lines, "e big", "e a", "e b", "end", ""]))
    assert (done.returncode, done.stderr) == (0, "")
    assert free in run("dumpe2fs", "-h", fresh).stdout
    assert_clean(fresh)


def test_a_file_in_many_pieces_is_sound(fresh: Path) -> None:
    """Check an extent tree that needs a block of its own (a trap of libext2fs)."""
    small = [f"{index:03d}" for index in range(150)]
    lines = [f"f {name} 4096" for name in small] + [f"e {name}" for name in small[::2]]
    done = mkfiles(fresh, "\n".join([*lines, "f pieces 4000000", "l pieces", "end", ""]))
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[2]) > 50
    assert_clean(fresh)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("", "script line 0: the script is cut off"),
        ("d a\n", "script line 1: the script is cut off"),
        ("d a\nf a/b 100", "script line 2: the script is cut off"),
        ("f a/b 100\nend\n", "script line 1: its parent directory does not exist"),
        ("f b 10\nf b/c 10\nend\n", "script line 2: its parent directory does not exist"),
        ("f big 20000000\nend\n", "script line 1: give the file its blocks: No space left"),
        ("f big 99999999999999999999\nend\n", "the size is not a whole number of bytes"),
        ("f big 9999999999999999\nend\n", "the size is beyond 8 TiB"),
        ("f a -1\nend\n", "the size is not a whole number of bytes"),
        ("f a 1k\nend\n", "the size is not a whole number of bytes"),
        ("f a\nend\n", 'not "f PATH SIZE"'),
        ("f a 1 2\nend\n", 'not "f PATH SIZE"'),
        ("d a 1\nend\n", "not a command and a PATH"),
        ("d\nend\n", "not a command and a PATH"),
        ("x a\nend\n", "unknown command"),
        ("dd a\nend\n", "unknown command"),
        ("\nend\n", "unknown command"),
        ("d a\nend\nd b\n", 'text after "end"'),
        ("d a\nd a\nend\n", "script line 2: it exists already"),
        ("e a\nend\n", "no such file"),
        ("d a\ne a\nend\n", "not a file"),
        ("d a\nl a\nend\n", "not a file"),
        ("d ..\nend\n", "not a name"),
        ("d a/\nend\n", "not a name"),
        (f"f {'n' * 256} 1\nend\n", "longer than 255 bytes"),
        (f"f {'p/' * 3000}n 1\nend\n", "its parent directory does not exist"),
        ("d a\0b\nend\n", "a zero byte"),
    ],
)
def test_bad_scripts_are_refused(fresh: Path, script: str, message: str) -> None:
    """Check the one-line message, exit code 1 and that "done" is not printed."""
    done = mkfiles(fresh, script)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert "done" not in done.stdout
    assert "not clean" in run("dumpe2fs", "-h", fresh).stdout


def test_mkfiles_wants_an_ext4_image(tmp_path: Path) -> None:
    """Check a missing file, a file of zeros and a call without arguments."""
    missing = mkfiles(tmp_path / "missing", "end\n")
    assert missing.returncode == 1
    assert "No such file" in missing.stderr
    (tmp_path / "zeros").write_bytes(bytes(MIB))
    zeros = mkfiles(tmp_path / "zeros", "end\n")
    assert zeros.returncode == 1
    assert "magic number" in zeros.stderr
    assert run(programs.compiled(image.MKFILES)).returncode == 2


def test_too_many_files_end_in_an_error(fresh: Path) -> None:
    """Check a script with more files than inodes."""
    lines = [f"f {index} 0" for index in range(2000)]
    done = mkfiles(fresh, "\n".join([*lines, "end", ""]))
    assert done.returncode == 1
    assert "make the inode" in done.stderr


def test_a_full_output_is_not_reported_as_done(fresh: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [programs.compiled(image.MKFILES), fresh],
            input="f a 1\nl a\nend\n", stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert "write the layout" in done.stderr
