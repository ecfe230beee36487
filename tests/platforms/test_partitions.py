# SPDX-License-Identifier: MIT
"""The disk that VMs share, read back with e2fsprogs and util-linux."""

import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from sample_runs import experiment

from understudy_devices.base.errors import UserError
from understudy_devices.base.progress import silent
from understudy_devices.device import profile
from understudy_devices.files import partitions
from understudy_devices.files.partitions import Partitioning
from understudy_devices.platforms.vm import debian_programs, scenario

MIB = 2**20
FILES = (("d0/small", 5000), ("d1/large", 3 * MIB))
ARRAY = profile.load("array-32")


def said(*command: str | Path) -> str:
    """Return the output of a program of e2fsprogs or util-linux, which must succeed."""
    program = shutil.which(command[0], path="/usr/sbin:/sbin:/usr/bin:/bin")
    assert program, f"no {command[0]}: apt-get install e2fsprogs util-linux"
    done = subprocess.run(
        [program, *command[1:]], capture_output=True, text=True, check=False, env={"LC_ALL": "C"}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def restored(blocks: Path, folder: Path) -> Path:
    """Rebuild the whole disk, sparse, from a compact image."""
    content = blocks.read_bytes()
    size, count = struct.unpack_from("<8xQQ", content)
    numbers = struct.unpack_from(f"<{count}Q", content, 24)
    disk = folder / "disk.img"
    with disk.open("wb") as out:
        out.truncate(size)
        for place, number in enumerate(numbers):
            out.seek(number * 4096)
            at = 24 + 8 * count + 4096 * place
            out.write(content[at : at + 4096])
    return disk


def test_each_partition_has_a_sound_file_system(tmp_path: Path) -> None:
    built = partitions.build(200 * MIB, Partitioning(3, FILES), silent)
    disk = restored(built.blocks, tmp_path)
    table = said("partx", "--show", "--noheadings", "-o", "START,SECTORS,TYPE", disk).splitlines()
    assert [line.split() for line in table] == [
        [str(2048 * (1 + 66 * place)), str(2048 * 66), "0x83"] for place in range(3)
    ]
    for place in range(3):
        one = tmp_path / "one.img"
        with disk.open("rb") as whole:
            whole.seek((1 + 66 * place) * MIB)
            one.write_bytes(whole.read(66 * MIB))
        said("e2fsck", "-fn", one)
        assert "Size: 3145728" in said("debugfs", "-R", "stat d1/large", one)
        assert "has_journal" not in said("dumpe2fs", "-h", one)


def test_a_disk_beyond_the_table_is_refused() -> None:
    with pytest.raises(UserError, match=r"^--virtual-size: 2199023255552 bytes: a partition table"):
        partitions.places(2**41, 3)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"virtual_bytes": 512 * MIB}, r"^--virtual-size: .* each of 3 VMs needs 192 MiB"),
        ({"controller": "null_blk", "queue_depth": 1}, "^--controller: null_blk has no partitions"),
        ({"vms": (2, 2)}, r"^--vms: 2,2: name each VM once"),
        ({"vms": (4,)}, "^--vms: 4 is outside 1 to 3"),
        ({"configuration": 3}, "^--configuration: 3 is outside 1 to 2"),
    ],
)
def test_what_vms_cannot_do_is_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        scenario.check(experiment(workload="postmark", platform="vm", disk=ARRAY, **options))


def test_a_missing_program_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match=r"no fio here: apt-get install -y .*fio$"):
        debian_programs.files("fio")


def test_a_program_comes_with_its_loader_and_libraries() -> None:
    files = debian_programs.files("postmark")
    assert {"bin/postmark", "lib64/ld-linux-x86-64.so.2"} < set(files)
    assert any(name.endswith("/libc.so.6") for name in files)
    assert all(path.is_file() for path in files.values())
