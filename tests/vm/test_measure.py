# SPDX-License-Identifier: MIT
"""`understudy measure` on disks of a stock kernel: with a known service time, with errors, and
unplugged during a run.

The disk is scsi_debug, which takes SERVICE_NS for each request, and serves one at a time if told
to. tests/platforms/test_measure_device.py tests what needs no such disk: interruptions and
refusals.
"""

import io
import json
import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import whole_host
from click.testing import CliRunner
from guests import MIB, group, once

from understudy_devices.cli.main import main
from understudy_devices.platforms.vm.machine import Result
from understudy_devices.show import report

pytestmark = pytest.mark.slow
SERVICE_NS = 1_500_000
REQUESTS = 200
PROCESSES = 6
OFFERED = {"none", "mq-deadline", "kyber", "bfq", "scan"}
DISK_MIB = 64
DISK = {
    "scsi_debug": f"dev_size_mb={DISK_MIB} ndelay={SERVICE_NS} max_queue=32 num_parts=1",
    "sd_mod": "",
    "bfq": "",
    "kyber-iosched": "",
    "scan": "",
    "brd": "rd_nr=1 rd_size=1024",
}

# Makes unusual settings, then runs all commands in one process, since starting Python takes an
# emulated processor longer than measuring. Matplotlib would take half a minute more, so the data of
# the reports are saved, and the host draws them.
DRIVER = f"""\
import json, os, pickle, threading, time
from pathlib import Path
from types import SimpleNamespace
from click.testing import CliRunner
from understudy_devices import show
from understudy_devices.cli.main import main

OUT, QUEUE = Path("/out"), Path("/sys/block/sda/queue")
DEPTH = QUEUE.parent / "device" / "queue_depth"

def settings():
    files = [DEPTH, *(file for file in sorted(QUEUE.rglob("*")) if file.is_file())]
    return {{str(file): file.read_text() for file in files if readable(file)}}

def readable(file):
    try:
        return bool(file.read_text())
    except OSError:
        return False

def put(value, file):
    file.write_text(value)

put("mq-deadline", QUEUE / "scheduler")
put("777", QUEUE / "iosched" / "read_expire")
put("60", QUEUE / "nr_requests")
put("0", QUEUE / "rotational")
put("5000", QUEUE / "wbt_lat_usec")
put("7", DEPTH)
BEFORE = settings()

def say(name, **found):
    (OUT / f"{{name}}.said").write_text(json.dumps(found))

def measure(name, *words):
    show.report = SimpleNamespace(render=lambda found: keep(name, found))
    words = ("--on", "/dev/sda", "--out", f"/run/{{name}}", *words)
    done = CliRunner().invoke(main, ["measure", *words], catch_exceptions=False)
    say(name, code=done.exit_code, table=done.stdout, words=done.stderr,
        back=settings() == BEFORE, left=left())
    if done.exit_code == 0:
        for file in ("result.json", "requests.parquet"):
            (OUT / f"{{name}}.{{file}}").write_bytes(Path(f"/run/{{name}}/{{file}}").read_bytes())

def keep(name, found):
    (OUT / f"{{name}}.found").write_bytes(pickle.dumps(found))
    return "drawn elsewhere"

def left():
    places = (Path("/run/understudy"), Path("/sys/kernel/tracing/instances"))
    return [str(file) for place in places if place.exists() for file in place.iterdir()]

def watch():
    while looking:
        seen.add((QUEUE / "scheduler").read_text().partition("[")[2].partition("]")[0])
        time.sleep(0.05)

seen, looking = set(), True
watching = threading.Thread(target=watch, daemon=True)
watching.start()
LOAD = ("--requests", "{REQUESTS}", "--processes", "{PROCESSES}")
measure("reads", *LOAD, "--set", "scan.full_seek_ns=1000")
looking = False
watching.join()
say("seen", schedulers=sorted(seen))
measure("deep", *LOAD, "--schedulers", "none", "--queue-depth", "4")
measure("partition", "--on", "/dev/sda1")
measure("deeper", "--queue-depth", "33")
measure("memory", "--on", "/dev/ram0")
os.system("mkswap /dev/sda1 && swapon /dev/sda1")
measure("swap", *LOAD)
os.system("swapoff /dev/sda1")
# No folder can be made there, as with a kernel in lockdown.
os.system("mount -t tmpfs tracing /sys/kernel/tracing; mkdir /sys/kernel/tracing/instances; "
          "mount -o remount,ro /sys/kernel/tracing")
measure("stamps", *LOAD, "--schedulers", "mq-deadline")
os.system("umount /sys/kernel/tracing")
# Half of the disk has medium errors.
parameters = Path("/sys/module/scsi_debug/parameters")
put("0", parameters / "medium_error_start")
put("{DISK_MIB * 1024}", parameters / "medium_error_count")
put("2", parameters / "opts")
measure("broken", *LOAD, "--schedulers", "kyber")
put("0", parameters / "opts")
def unplug():
    while "[bfq]" not in (QUEUE / "scheduler").read_text():
        time.sleep(0.1)
    time.sleep(3)
    put("1", QUEUE.parent / "device" / "delete")

unplugging = threading.Thread(target=unplug)
unplugging.start()
measure("unplugged", "--requests", "1000000", "--schedulers", "bfq")
unplugging.join()
say("run", folder=os.listdir("/run"))
"""


@once
def measured() -> Result:
    """Boot the VM in which all of this is measured."""
    return whole_host.run(f"cat > /run/driver.py <<'EOF'\n{DRIVER}EOF\npython /run/driver.py", DISK)


def said(name: str) -> Any:
    """Return what a command printed."""
    return json.loads(measured().out[f"{name}.said"])


def document(name: str) -> Any:
    """Return a run's result.json."""
    return json.loads(measured().out[f"{name}.result.json"])


def rows(name: str, scheduler: str = "mq-deadline") -> pl.DataFrame:
    """Return a run's requests, in order of arrival."""
    requests = pl.read_parquet(io.BytesIO(measured().out[f"{name}.requests.parquet"]))
    return requests.filter(scheduler=scheduler)


def folder(at: Path, name: str) -> Path:
    """Copy the run folder to the host."""
    at.joinpath(name).mkdir()
    (at / name / "result.json").write_bytes(measured().out[f"{name}.result.json"])
    return at / name


@group("measure")
@pytest.mark.parametrize(
    "name", ["reads", "deep", "stamps", "partition", "deeper", "swap", "broken"]
)
def test_it_leaves_no_trace(name: str) -> None:
    """All settings of the disk, including its scheduler's tunables, are restored."""
    assert said(name)["back"]
    assert said(name)["left"] == []


@group("measure")
@pytest.mark.parametrize("name", ["reads", "deep", "stamps"])
def test_it_ends_well(name: str) -> None:
    assert said(name)["code"] == 0, said(name)["words"]


@group("measure")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("partition", "--on: /dev/sda1: is a partition; take the whole disk, /dev/sda"),
        ("deeper", "--queue-depth: 33: sda takes up to 32 at a time"),
        ("swap", "--on: /dev/sda: sda1 is swap; swapoff it first"),
        (
            "memory",
            "--on: /dev/ram0: has no scheduler, since nothing waits in it; take a disk, or those "
            "it is made of",
        ),
    ],
)
def test_what_is_refused(name: str, words: str) -> None:
    """The refused disks are a partition, one with too short a queue, one in use, and one that never
    waits.
    """
    assert said(name)["code"] == 2
    assert said(name)["words"] == f"understudy: {words}\n"


@group("measure")
def test_a_disk_that_fails_is_no_result() -> None:
    assert said("broken")["code"] == 1
    assert "failed: " in said("broken")["words"]
    assert said("broken")["words"].rstrip().endswith("see dmesg")


@group("measure")
def test_a_disk_that_is_unplugged_ends_the_run() -> None:
    """The error is one line, and no settings are left to restore."""
    assert said("unplugged")["code"] == 1
    last = said("unplugged")["words"].splitlines()[-1]
    assert last == "understudy: /dev/sda is gone: was it unplugged?"
    assert said("unplugged")["left"] == []
    assert "unplugged" not in said("run")["folder"]


@group("measure")
def test_every_scheduler_of_the_kernel_was_in_the_queue() -> None:
    """The schedulers include ours.

    A shell saw each scheduler selected, and each ran with the VM's settings.
    """
    runs = {run["scheduler"]: run["facts"]["settings"] for run in document("reads")["runs"]}
    assert set(runs) == OFFERED
    assert set(said("seen")["schedulers"]) == OFFERED
    for name, settings in runs.items():
        assert settings["queue/scheduler"] == name
        assert settings["queue/rotational"] == "1"
        assert settings["device/queue_depth"] == "1"
        assert settings.get("queue/wbt_lat_usec", "0") == "0"
        assert name == "none" or settings["queue/nr_requests"] == "256"
    assert runs["scan"]["queue/iosched/full_seek_ns"] == "1000"


@group("measure")
@pytest.mark.parametrize("scheduler", sorted(OFFERED))
def test_the_disk_was_alone_with_each_request(scheduler: str) -> None:
    """The disk serves one request after another, for at least SERVICE_NS each.

    In a closed loop there are at most as many requests as processes.
    """
    requests = rows("reads", scheduler).sort("dispatch_ns")
    arrival, dispatch, completion, sector = (
        requests[name].to_numpy()
        for name in ("arrival_ns", "dispatch_ns", "completion_ns", "sector")
    )
    assert len(arrival) == REQUESTS
    assert ((completion - dispatch) >= SERVICE_NS).all()
    assert (dispatch[1:] >= completion[:-1]).all()
    assert (dispatch >= arrival).all()
    assert (sector % 8 == 0).all()
    assert sector.max() < DISK_MIB * MIB // 512
    assert (requests["sectors"] == 8).all()
    (run,) = (one for one in document("reads")["runs"] if one["scheduler"] == scheduler)
    assert run["mean_service_ms"] * 1e6 >= SERVICE_NS
    together = (completion - arrival).sum() / (completion.max() - arrival.min())
    assert together <= PROCESSES


@group("measure")
def test_processes_ask_for_the_same_whoever_decides() -> None:
    """Their random numbers depend on the seed alone."""

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
    """A service time is then the time between two completions."""
    requests = rows("deep", "none").sort("completion_ns")
    starts, ends = requests["dispatch_ns"].to_list(), requests["completion_ns"].to_list()
    together = [sum(s <= at < e for s, e in zip(starts, ends, strict=True)) for at in starts]
    assert max(together) == 4
    (run,) = document("deep")["runs"]
    assert document("deep")["inputs"]["depth"] == 4
    before = [0, *ends[:-1]]
    service = [end - max(at, last) for at, end, last in zip(starts, ends, before, strict=True)]
    assert run["mean_service_ms"] == pytest.approx(sum(service) / REQUESTS / 1e6)


@group("measure")
def test_without_the_kernels_events_there_are_no_service_times() -> None:
    """The table, the result and the comparison say so."""
    (run,) = document("stamps")["runs"]
    assert run["facts"]["instrument"] == "the processes' own clock"
    assert "Read-only file system" in run["facts"]["instrument_missing"]
    assert {"dispatch_ns", "pick_ns", "due_ns"} <= set(run["facts"]["unseen"])
    for key in ("mean_service_ms", "var_service_ms2", "mean_device_ms", "mean_model_service_ms"):
        assert run[key] is None, key
    assert run["mean_response_ms"] * 1e6 >= SERVICE_NS
    assert rows("stamps")["dispatch_ns"].null_count() == REQUESTS
    table = said("stamps")["table"]
    assert "so without service times: " in table
    assert [line.split()[-1] for line in table.splitlines() if "service" in line][:2] == ["-", "-"]


@group("measure")
@pytest.mark.parametrize("name", ["reads", "deep", "stamps"])
def test_its_report_is_drawn(name: str) -> None:
    """The report has the requests, from the saved data, if it is known when they were sent."""
    page = report.render(pickle.loads(measured().out[f"{name}.found"]))
    assert "/dev/sda" in page
    assert ('id="views"' in page) == (name != "stamps")
    assert ("of no request it is known when" in page) == (name == "stamps")
    for run in document(name)["runs"]:
        assert f"{run['scheduler']}, seed 1" in page


@group("measure")
def test_a_run_folder_of_it_compares_with_any_other(tmp_path: Path) -> None:
    one, other = folder(tmp_path, "reads"), folder(tmp_path, "stamps")
    done = CliRunner().invoke(main, ["compare-runs", str(one), str(other), "--json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    keys = [each["measure"] for each in document["measures"]]
    assert keys == [
        *("mean_response_ms", "var_response_ms2", "throughput_sectors_per_ms", "p99_response_ms")
    ]
    assert set(document["measures"][0]["schedulers"]) == {"mq-deadline"}
