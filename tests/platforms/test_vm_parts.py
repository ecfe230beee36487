# SPDX-License-Identifier: MIT
"""Parts of the VM layer that need no VM: parsers of foreign bytes, the cache, the witnesses."""

import contextlib
import gzip
import lzma
import re
import struct
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from kernel_trace import COMPLETE, FORMATS, ISSUE, data, trace
from sample_runs import experiment

from understudy_devices.ask.setting import OnVm
from understudy_devices.base import cache
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.device import profile
from understudy_devices.files import image
from understudy_devices.platforms import reads, witness
from understudy_devices.platforms.vm import modules, outcome, packages, scenario, target
from understudy_devices.platforms.vm.controllers import CONTROLLERS
from understudy_devices.platforms.vm.initramfs import Initramfs

QUEUEING = profile.load("vesper-zoned").model_copy(update={"queue": profile.CommandQueue(depth=8)})

WIDE = profile.DiskProfile(name="wide", array=profile.Servers(servers=129, service_ms=1.0))


def bz_image(payload: bytes) -> bytes:
    """Return the smallest bytes that pass for a bzImage."""
    setup = bytearray(1024)
    setup[0x1F1] = 1
    setup[0x202:0x206] = b"HdrS"
    struct.pack_into("<II", setup, 0x248, 16, len(payload))
    return bytes(setup) + bytes(16) + payload + b"trailing"


@pytest.mark.parametrize("pack", [lzma.compress, gzip.compress, zstandard.compress])
def test_a_packed_kernel_is_unpacked(pack) -> None:  # type: ignore[no-untyped-def]
    """Debian packs its kernels in these ways, with some bytes after the payload."""
    assert packages.unpack_image(bz_image(pack(b"\x7fELF" * 100))) == b"\x7fELF" * 100


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (b"", "not a bzImage"),
        (bytes(4096), "not a bzImage"),
        (bz_image(b"zstd?"), "neither with xz, gzip nor zstd"),
        (bz_image(b"\xfd7zXZ\x00" + b"x" * 50), "damaged"),
        (bz_image(b"\x1f\x8b" + b"x" * 50), "damaged"),
        (bz_image(zstandard.FRAME_HEADER + b"x" * 50), "damaged"),
        (bz_image(lzma.compress(bytes(range(256)) * 9)[:90])[:-8], "damaged"),
    ],
)
def test_what_is_no_kernel_is_refused(image: bytes, message: str) -> None:
    with pytest.raises(RunFailed, match=message):
        packages.unpack_image(image)


@given(st.binary(max_size=2000))
def test_any_bytes_are_a_kernel_or_refused(data: bytes) -> None:
    """unpack_image() raises no other exception, whatever the payload."""
    image = bz_image(data)
    with contextlib.suppress(RunFailed):
        packages.unpack_image(image)


def test_the_archive_is_the_same_for_the_same_content() -> None:
    """The archive also contains each folder only once."""

    def archive() -> bytes:
        initramfs = Initramfs()
        initramfs.file("a/b/one", b"1", executable=True)
        initramfs.file("a/b/two", "2")
        return initramfs.archive().content

    assert archive() == archive()
    assert archive().count(b"a/b\0") == 1
    assert archive().endswith(b"TRAILER!!!\0\0\0\0")
    assert len(archive()) % 4 == 0


def test_a_folder_that_fails_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is left under its name, nor under a temporary name."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def fails(folder: Path) -> None:
        (folder / "half").write_text("done")
        raise RunFailed("no")

    with pytest.raises(RunFailed):
        cache.cached_folder("things/one", fails)
    assert [path.name for path in (tmp_path / "understudy" / "things").iterdir()] == [".one.lock"]


def test_two_at_once_make_it_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The other threads wait, and use what the first one made."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folders = []

    def make(folder: Path) -> None:
        folders.append(folder)
        time.sleep(0.2)
        (folder / "whole").write_text("done")

    def want() -> None:
        assert (cache.cached_folder("things/one", make) / "whole").read_text() == "done"

    threads = [threading.Thread(target=want) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(folders) == 1


def fake_module(folder: Path, name: str, depends: str) -> None:
    """Write a module with the parts that ModuleTree reads."""
    (folder / f"{name}.ko").write_bytes(b"ELF\0depends=" + depends.encode() + b"\0name=x\0")


def test_modules_come_after_what_they_need(tmp_path: Path) -> None:
    """A name's "-" and "_" are equal, built-in modules are left out, and a module may
    need itself.
    """
    kernel = packages.Kernel("6", "1", tmp_path)
    kernel.modules.mkdir(parents=True)
    fake_module(kernel.modules, "disk-helper", "")
    fake_module(kernel.modules, "disk", "disk_helper,built_in")
    ours = tmp_path / "ours"
    ours.mkdir()
    fake_module(ours, "vpt", "disk,vpt")
    order = modules.ModuleTree(kernel, ours.glob("*.ko")).in_load_order(["vpt", "disk", "ext9"])
    assert [path.stem for path in order] == ["disk-helper", "disk", "vpt"]


def trace_of(rows: list[tuple[int, int, int]]) -> bytes:
    """Return the kernel's trace of requests (dispatch, completion, sector), in us after 1 s."""
    events = [(dispatch, ISSUE, sector) for dispatch, _, sector in rows]
    events += [(completion, COMPLETE, sector) for _, completion, sector in rows]
    return trace((10**9 + us * 1000, data(kind, sector)) for us, kind, sector in sorted(events))


def records_of(rows: list[tuple[int, int, int]]) -> pl.DataFrame:
    """Return the throttle's records of the same requests, in ns."""
    return pl.DataFrame(
        {
            "request_id": range(1, len(rows) + 1),
            "arrival_ns": [10**9 + row[0] * 1000 - 500 for row in rows],
            "dispatch_ns": [10**9 + row[0] * 1000 + 400 for row in rows],
            "completion_ns": [10**9 + row[1] * 1000 + 400 for row in rows],
            "sector": [row[2] for row in rows],
            "owner": [7 for _ in rows],
            "meta": [False for _ in rows],
        }
    )


ROWS = [(100, 6100, 800), (6150, 12000, 16), (12050, 12300, 24)]


def test_a_trace_that_agrees() -> None:
    """Every request is found, and the mean difference of the times is reported."""
    answer = witness.compare_trace(records_of(ROWS), trace_of(ROWS), FORMATS, witness.VIRTUAL)
    assert answer["requests"] == 3
    assert answer["complete_mean_ns"] == -400


def test_of_many_events_that_may_be_a_request_the_nearest_is() -> None:
    """The same sector is requested each microsecond, before and after each record."""
    rows = [(us, us + 1000, 800) for us in range(100, 400)]
    answer = witness.compare_trace(records_of(rows), trace_of(rows), FORMATS, witness.VIRTUAL)
    for kind in ("issue", "complete"):
        assert (answer[f"{kind}_mean_ns"], answer[f"{kind}_max_ns"]) == (-400, 400)


@pytest.mark.parametrize(
    "seen",
    [
        ROWS[:2],
        [*ROWS[:2], (12050, 12400, 24)],
        [*ROWS[:2], (12050, 12300, 32)],
        [(row[0] + 30, row[1] + 30, row[2]) for row in ROWS],
        [],
    ],
    ids=["one missing", "another time", "another sector", "all a little later", "nothing"],
)
def test_a_trace_that_disagrees_fails_the_run(seen: list[tuple[int, int, int]]) -> None:
    """Every disagreement is noticed."""
    with pytest.raises(RunFailed, match="record is wrong"):
        witness.compare_trace(records_of(ROWS), trace_of(seen), FORMATS, witness.VIRTUAL)


def entries(rows: list[tuple[int, int]]) -> reads.Entries:
    """Return a log of a process's reads (start, end), in us after 1 s."""
    log = np.zeros(len(rows), dtype=reads.ENTRY)
    log["owner"] = 7
    log["start_ns"] = [10**9 + start * 1000 for start, _ in rows]
    log["end_ns"] = [10**9 + end * 1000 for _, end in rows]
    return log


def test_processes_that_agree() -> None:
    """Each read of the log encloses its record."""
    seen = entries([(99, 6110), (6149, 12010), (12049, 12310)])
    answer = witness.compare_processes(records_of(ROWS), seen, witness.VIRTUAL)
    assert answer["reads"] == 3
    assert answer["mean_difference_us"] == pytest.approx(10.1, abs=0.05)


@pytest.mark.parametrize(
    "seen",
    [
        [(99, 6000), (6149, 12010), (12049, 12310)],
        [(101, 6110), (6149, 12010), (12049, 12310)],
        [(99, 16110), (6149, 22010), (12049, 22310)],
        [],
    ],
    ids=["ended before", "began after", "far longer", "nothing"],
)
def test_processes_that_disagree_fail_the_run(seen: list[tuple[int, int]]) -> None:
    """Every disagreement is noticed."""
    with pytest.raises(RunFailed):
        witness.compare_processes(records_of(ROWS), entries(seen), witness.VIRTUAL)


def test_arrivals_within_reads_agree() -> None:
    """Some buffered reads are page cache hits, between the reads that reach the disk."""
    seen = entries([(50, 60), (99, 6110), (6120, 6121), (6149, 12010), (12049, 12310)])
    assert witness.compare_arrivals(records_of(ROWS), seen)["arrivals"] == 3


@pytest.mark.parametrize(
    "seen",
    [[(99, 6110), (6151, 12010), (12049, 12310)], [(100, 6110), (6149, 12310)], []],
    ids=["began after", "before the first", "nothing"],
)
def test_an_arrival_outside_all_reads_fails_the_run(seen: list[tuple[int, int]]) -> None:
    with pytest.raises(RunFailed):
        witness.compare_arrivals(records_of(ROWS), entries(seen))


def test_a_block_trace_with_gaps_fails_the_run() -> None:
    """Only programs without a log of their own have a block trace."""
    out = {"disk.blktrace.0": b"records", "block_trace": b"block_trace_dropped 0\n", "records": b""}
    stock = experiment(workload="postmark", disk="array-32")
    assert outcome.block_trace(stock, out) == {"disk.blktrace.0": b"records"}
    assert outcome.block_trace(experiment(), {}) == {}
    gaps = {**out, "block_trace": b"block_trace_dropped 17\n"}
    with pytest.raises(RunFailed, match="the kernel's block trace lost 17 records"):
        outcome.block_trace(stock, gaps)


def test_what_lies_outside_every_file_is_metadata() -> None:
    """The sectors lie before, in, between and after the extents of blocks 10-11 and 20."""
    none = np.zeros(0, dtype=np.int64)
    layout = image.Layout(none, none, none, start=np.array([20, 10]), length=np.array([1, 2]))
    rows = pl.DataFrame({"sector": [0, 80, 95, 96, 160, 167, 168], "meta": [False] * 7})
    marked = outcome.mark_metadata(rows, layout)["meta"].to_list()
    assert marked == [True, False, False, True, False, False, True]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"virtual_bytes": 2**20}, "1048576 bytes is less than the 64MiB that the files of surge"),
        ({"virtual_bytes": 2**30 + 512}, "--virtual-size: not a multiple of 4096"),
        ({"controller": "lsi"}, 'unknown controller "lsi": did you mean "lsi53c895a"'),
        ({"controller": "lsi53c895a"}, "--controller: lsi53c895a holds no data, so no file"),
        (
            {"disk": WIDE},
            "--queue-depth: 129: vdisk takes up to 128 requests at a time here; take -",
        ),
        (
            {"disk": "array-32", "workload": "random", "controller": "virtio-blk"},
            "--queue-depth: 32: virtio-blk takes one request at a time here; take --queue-depth 1",
        ),
        (
            {"disk": "array-32", "scheduler": "sptf"},
            "--schedulers: sptf needs a disk's model, but array-32 is an array; leave sptf",
        ),
        ({"queue_depth": 4}, "--queue-depth: 4: cheetah-15k4 takes up to 2 at a time"),
        (
            {
                "workload": "random",
                "queue_depth": 4,
                "disk": QUEUEING,
                "controller": "virtio-blk",
            },
            "--queue-depth: 4: virtio-blk takes one request at a time here; take --queue-depth 1",
        ),
        ({"scale": 1.5, "clock": "wall"}, "--scale: the VM scales by whole factors"),
    ],
)
def test_what_no_vm_can_do_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        scenario.describe(experiment(**changes), lambda phase, fraction: None)


def test_the_help_names_every_controller() -> None:
    assert all(name in OnVm.declared()["controller"].help for name in CONTROLLERS)


def test_what_the_software_needs_is_between_what_was_measured() -> None:
    """Times are interpolated by length; they are 0 for an operation that was not measured."""
    software = target.Software({"read": [10.0 * sectors for sectors in target.LENGTHS]})
    assert [software.ns("read", sectors) for sectors in (1, 3, 8, 9000)] == [10, 30, 80, 25600]
    assert software.ns("flush", 0) == 0


def test_a_drive_with_a_write_cache_says_so() -> None:
    """Other drives report no write cache, and some controllers can't report one."""
    mine, other = CONTROLLERS["vdisk"], CONTROLLERS["virtio-blk"]
    cached, plain = (profile.load(name).timing(10**6) for name in ("cheetah-9lp", "cheetah-15k4"))
    assert "echo 'write back'" in scenario.write_cache(cached, mine)
    assert scenario.write_cache(cached, other) == scenario.write_cache(plain, mine) == ""
