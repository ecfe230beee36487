# SPDX-License-Identifier: MIT
"""`understudy measure` on disks of a stock kernel: what it finds, and that nobody sees it was there.

scsi_debug is the disk: it takes SERVICE_NS for each request, and one at a time if it is told so.
Everything is asked of the kernel by a shell, before and after.
"""

import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import whole_host
from click.testing import CliRunner
from guests import MIB, group, once, text

from understudy.cli.main import main
from understudy.platforms.vm.machine import Result

SERVICE_NS = 1_500_000
REQUESTS = 300
PROCESSES = 6
OFFERED = {"none", "mq-deadline", "kyber", "bfq", "look"}
DISK_MIB = 64
DISK = {
    "scsi_debug": f"dev_size_mb={DISK_MIB} ndelay={SERVICE_NS} max_queue=32",
    "sd_mod": "",
    "bfq": "",
    "kyber-iosched": "",
    "look": "",
    "ext4": "",
    "crc32c_generic": "",
    "loop": "",
}

# Settings that the kernel would not choose; `settings` shows all that a disk has.
BEGIN = r"""
queue=/sys/block/sda/queue
settings() {
	grep -H '' $queue/* $queue/iosched/* /sys/block/sda/device/queue_depth 2> /dev/null
}
echo mq-deadline > $queue/scheduler
echo 777 > $queue/iosched/read_expire
echo 60 > $queue/nr_requests
echo 0 > $queue/rotational
echo 5000 > $queue/wbt_lat_usec
echo 7 > /sys/block/sda/device/queue_depth
settings > /out/before
"""

MEASURED = rf"""
md5sum < /dev/sda > /out/data_before
while sleep 0.1; do cat $queue/scheduler; done > /out/seen &
measure() {{ # NAME WORDS
	name=$1
	shift
	understudy measure --on /dev/sda --requests {REQUESTS} --processes {PROCESSES} \
		--out /run/$name "$@" > /out/$name.table 2> /out/$name.words
	echo $? > /out/$name.code
	cp /run/$name/result.json /out/$name.json
	cp /run/$name/requests.parquet /out/$name.parquet
	settings > /out/$name.after
}}
measure reads --set look.full_seek_ns=1000
md5sum < /dev/sda > /out/data_after
measure deep --schedulers none --queue-depth 4
measure writes --schedulers mq-deadline --writes 40 --destroy-data
md5sum < /dev/sda > /out/data_written
# Nobody makes a folder there, as where the kernel is locked down.
mount -t tmpfs tracing /sys/kernel/tracing
mkdir /sys/kernel/tracing/instances
mount -o remount,ro /sys/kernel/tracing
measure stamps --schedulers mq-deadline
umount /sys/kernel/tracing
ls /sys/kernel/tracing/instances > /out/instances
ls /run/understudy > /out/journals
kill %1
"""


@once
def measured() -> Result:
    """The VM in which all of that was measured."""
    return whole_host.run(BEGIN + MEASURED, DISK)


def document(name: str) -> Any:
    """A run's result.json."""
    return json.loads(measured().out[f"{name}.json"])


def rows(name: str, scheduler: str = "mq-deadline") -> pl.DataFrame:
    """A run's requests, by arrival."""
    found = pl.read_parquet(io.BytesIO(measured().out[f"{name}.parquet"]))
    return found.filter(scheduler=scheduler)


def folder(at: Path, name: str) -> Path:
    """The run folder, here."""
    at.joinpath(name).mkdir()
    (at / name / "result.json").write_bytes(measured().out[f"{name}.json"])
    return at / name


@group("measure")
@pytest.mark.parametrize("name", ["reads", "deep", "writes", "stamps"])
def test_it_ends_well_and_leaves_no_trace(name: str) -> None:
    """All settings of the disk, the tunables of its scheduler too, are what they were."""
    assert text(measured(), f"{name}.code") == "0", text(measured(), f"{name}.words")
    assert measured().out[f"{name}.after"] == measured().out["before"]
    assert b"\n" not in measured().out[f"{name}.table"][:1]
    assert text(measured(), "instances") == ""
    assert text(measured(), "journals") == ""


@group("measure")
def test_every_scheduler_of_the_kernel_was_in_the_queue() -> None:
    """Ours as well: a shell saw each of them chosen, and each ran with the VM's settings."""
    runs = {run["scheduler"]: run["facts"]["settings"] for run in document("reads")["runs"]}
    assert set(runs) == OFFERED
    seen = {
        line.partition("[")[2].partition("]")[0] for line in text(measured(), "seen").split("\n")
    }
    assert seen == OFFERED
    for name, settings in runs.items():
        assert settings["queue/scheduler"] == name
        assert settings["queue/rotational"] == "1"
        assert settings["device/queue_depth"] == "1"
        assert settings.get("queue/wbt_lat_usec", "0") == "0"
        assert name == "none" or settings["queue/nr_requests"] == "256"
    assert runs["look"]["queue/iosched/full_seek_ns"] == "1000"


@group("measure")
@pytest.mark.parametrize("scheduler", sorted(OFFERED))
def test_the_disk_was_alone_with_each_request(scheduler: str) -> None:
    """It takes SERVICE_NS, one after the other; in a closed loop no more requests are there than
    processes, and few less."""
    found = rows("reads", scheduler)
    assert found.height == REQUESTS
    assert (found["completion_ns"] - found["dispatch_ns"]).min() >= SERVICE_NS  # type: ignore[operator]
    served = found.sort("dispatch_ns")
    assert (served["dispatch_ns"][1:] >= served["completion_ns"][:-1]).all()
    assert (found["dispatch_ns"] >= found["arrival_ns"]).all()
    assert (found["sector"] % 8 == 0).all()
    assert (found["sectors"] == 8).all()
    assert found["sector"].max() < DISK_MIB * MIB // 512  # type: ignore[operator]
    (run,) = (one for one in document("reads")["runs"] if one["scheduler"] == scheduler)
    assert run["mean_service_ms"] * 1e6 >= SERVICE_NS
    response_ns = (found["completion_ns"] - found["arrival_ns"]).sum()
    span_ns = found["completion_ns"].max() - found["arrival_ns"].min()  # type: ignore[operator]
    assert PROCESSES / 2 < response_ns / span_ns <= PROCESSES


@group("measure")
def test_processes_ask_for_the_same_whoever_decides() -> None:
    """Their draws depend on the seed alone."""

    def firsts(scheduler: str) -> set[tuple[int, ...]]:
        by_owner = rows("reads", scheduler).group_by("owner", maintain_order=True)
        return {tuple(found["sector"].head(5)) for _, found in by_owner}

    places = [firsts(scheduler) for scheduler in sorted(OFFERED)]
    assert len(places[0]) == PROCESSES
    assert all(found == places[0] for found in places)


@group("measure")
def test_the_processes_saw_what_was_recorded() -> None:
    for run in document("reads")["runs"]:
        facts = run["facts"]
        assert facts["instrument"] == "the kernel's events of the block layer"
        assert facts["witness"]["processes"]["reads"] == REQUESTS
        assert facts["witness"]["processes"]["mean_difference_us"] > 0


@group("measure")
def test_a_disk_may_have_several_requests_at_once() -> None:
    """Then a service is what passes between two completions."""
    found = rows("deep", "none")
    starts = found["dispatch_ns"].to_list()
    ends = found["completion_ns"].to_list()
    together = [sum(s <= at < e for s, e in zip(starts, ends, strict=True)) for at in starts]
    assert max(together) == 4
    (run,) = document("deep")["runs"]
    assert document("deep")["inputs"]["depth"] == 4
    between = [
        b - max(a, s)
        for a, (s, b) in zip(
            [0, *sorted(ends)],
            sorted(zip(starts, ends, strict=True), key=lambda one: one[1]),
            strict=False,
        )
    ]
    assert run["mean_service_ms"] == pytest.approx(sum(between) / len(between) / 1e6)


@group("measure")
def test_reading_leaves_the_data_and_writing_does_not() -> None:
    assert measured().out["data_before"] == measured().out["data_after"]
    assert measured().out["data_before"] != measured().out["data_written"]
    writes = (rows("writes")["op"] == "write").sum()
    assert 0.25 * REQUESTS < writes < 0.55 * REQUESTS
    said = text(measured(), "writes.words")
    assert said.startswith("--destroy-data: what is on /dev/sda is being lost")


@group("measure")
def test_without_the_kernels_events_there_are_no_service_times() -> None:
    """Said in the table, in the result, and in what is compared."""
    (run,) = document("stamps")["runs"]
    assert run["facts"]["instrument"] == "the processes' own clock"
    assert "Read-only file system" in run["facts"]["instrument_missing"]
    assert {"dispatch_ns", "pick_ns", "due_ns"} <= set(run["facts"]["unseen"])
    for key in ("mean_service_ms", "var_service_ms2", "mean_device_ms", "mean_model_service_ms"):
        assert run[key] is None, key
    assert run["mean_response_ms"] * 1e6 >= SERVICE_NS
    assert rows("stamps")["dispatch_ns"].null_count() == REQUESTS
    table = text(measured(), "stamps.table")
    assert "so without service times: " in table
    assert [line.split()[-1] for line in table.splitlines() if "service" in line][:2] == ["-", "-"]


@group("measure")
def test_a_run_folder_of_it_compares_with_any_other(tmp_path: Path) -> None:
    one, other = folder(tmp_path, "reads"), folder(tmp_path, "stamps")
    done = CliRunner().invoke(main, ["compare-runs", str(one), str(other), "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    keys = [each["measure"] for each in found["measures"]]
    assert keys == [
        *("mean_response_ms", "var_response_ms2", "throughput_sectors_per_ms", "p99_response_ms")
    ]
    assert set(found["measures"][0]["schedulers"]) == {"mq-deadline"}
