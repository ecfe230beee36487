# SPDX-License-Identifier: MIT
"""`understudy place` from traces to a run folder.  Its figures for a device equal those that
`understudy consolidate` predicts for the same VMs."""

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from test_consolidate import SERVICE_MS, write

from understudy_devices.api import vms as vms_given
from understudy_devices.cli.main import main
from understudy_devices.consolidation.fit import Fitted
from understudy_devices.consolidation.fits import fit_each
from understudy_devices.consolidation.vm import Reduction, VirtualMachine, read

pytestmark = pytest.mark.thorough

ALONE_MS = SERVICE_MS * log(20)  # p95 of an exponential service time
ON_A = ["--each", "vms", "--devices", "a=8"]
ALL = [*ON_A, "--p95", "9"]
FITS: dict[bytes, Fitted] = {}
GAPS_MS = {"web": 2.5, "mail": 4.0, "db": 5.0, "log": 10.0}


def understudy(*words: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, words, catch_exceptions=False)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a trace of each VM to vms/; the VMs keep 4, 2.5, 2 and 1 servers busy for 12 s."""
    folder = tmp_path_factory.mktemp("place") / "vms"
    folder.mkdir()
    for seed, (name, gap_ms) in enumerate(GAPS_MS.items()):
        write(folder / f"{name}.parquet", seed, int(12_000 / gap_ms), gap_ms)
    return folder


@pytest.fixture
def vms(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the traces into the current folder."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(written, "vms")
    return Path("vms")


@pytest.fixture(autouse=True)
def fitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cache fits across all tests: equal service times have equal fits, and each fit takes a
    second."""

    def remembered(
        machines: Sequence[VirtualMachine],
        accept_poor: bool,
        jobs: int,
        done: Callable[[str], None],
    ) -> list[Fitted]:
        keys = [b"".join(run.service_ns.tobytes() for run in vm.runs) for vm in machines]
        new = {key: vm for key, vm in zip(keys, machines, strict=True) if key not in FITS}
        if new:
            FITS.update(
                zip(new, fit_each(list(new.values()), accept_poor, jobs, done), strict=True)
            )
        return [FITS[key] for key in keys]

    monkeypatch.setattr(vms_given, "fit_each", remembered)


def placed(*words: str, code: int = 0) -> Any:
    """Return what --json prints, which must equal result.json."""
    done = understudy("place", *words, "--json", "--out", "run", "--accept-poor-fit")
    assert done.exit_code == code, done.output
    document = json.loads(done.stdout)
    assert document == json.loads(Path("run/result.json").read_text())
    assert (document["outcome"] == "found") == (code == 0)
    if code:
        last = done.stderr.splitlines()[-1]
        assert last == f"understudy: {document['outcome']}: {document['reason']}"
    shutil.rmtree("run")
    return document


def rows(document: Any) -> Iterable[tuple[Any, Any]]:
    for device in document["devices"]:
        for one in device["vms"]:
            yield device, one


def test_each_vm_has_a_device_and_meets_its_target(vms: Path) -> None:
    """The VMs keep 9.5 servers busy; all wait a little on 13 servers in two devices."""
    document = placed("--each", "vms", "--devices", "a=9,b=4", "--p95", "36", "--targets", "db=45")
    assert document["offered_load"] == pytest.approx(9.5 / 13, rel=0.05)
    assert sorted(one["name"] for _, one in rows(document)) == sorted(GAPS_MS)
    for device in document["devices"]:
        assert device["load"] == pytest.approx(sum(one["load"] for one in device["vms"]))
        assert device["load"] < 1
    for device, one in rows(document):
        busy = SERVICE_MS / GAPS_MS[one["name"]]
        assert one["load"] == pytest.approx(busy / device["servers"], rel=0.15)
        assert one["target_p95_ms"] == (45 if one["name"] == "db" else 36)
        assert one["meets_target"]
        assert one["p95_response_ms"] < one["p95_at_most_ms"] <= one["target_p95_ms"]
        assert one["alone"]["p95_response_ms"] == pytest.approx(ALONE_MS, rel=0.12)
        assert one["p95_response_ms"] > 0.85 * ALONE_MS


def test_a_device_is_as_consolidate_predicts_it(vms: Path) -> None:
    document = placed("--each", "vms", "--devices", "a=11,b=10", "--p95", "40")
    for device in document["devices"]:
        names = [one["name"] for one in device["vms"]]
        words = ["consolidate", *(f"vms/{name}.parquet" for name in names), "--json"]
        depth = str(device["servers"])
        more = ["--depth", depth, "--merge", "1", "--replications", "16", "--accept-poor-fit"]
        done = understudy(*words, *more, "--seed", "7")
        assert done.exit_code == 0, done.output
        for one, other in zip(device["vms"], json.loads(done.stdout)["vms"], strict=True):
            assert one["p95_response_ms"] == pytest.approx(
                other["together"]["p95_response_ms"], rel=0.06
            )


def test_a_target_below_what_a_vm_has_alone_is_impossible(vms: Path) -> None:
    document = placed(
        "--each", "vms", "--devices", "a=64,b=64", "--p95", "60", "--targets", "log=20", code=1
    )
    assert document["outcome"] == "none exists"
    assert document["conflict"] == ["log"]
    assert "even alone on a" in document["reason"]
    assert "for 20" in document["reason"]


def test_too_few_servers_are_told_without_a_simulation(vms: Path) -> None:
    document = placed("--each", "vms", "--devices", "a=5,b=4", "--p95", "500", code=1)
    assert document["outcome"] == "none exists"
    assert document["simulated_devices"] == 0
    assert document["devices"] == []
    assert "all devices together have 9" in document["reason"]


def test_vms_that_conflict_are_named(vms: Path) -> None:
    """The VM web fits only the larger device, where no other VM fits beside it."""
    document = placed("--each", "vms", "--devices", "a=6,b=4", "--p95", "33.5", code=1)
    assert document["outcome"] == "none exists"
    assert "in every assignment of" in document["reason"]
    assert set(document["conflict"]) <= set(GAPS_MS)
    assert len(document["conflict"]) > 1
    assert any(not one["meets_target"] for _, one in rows(document))


def test_a_budget_that_is_used_up_is_no_proof(vms: Path) -> None:
    words = ("--each", "vms", "--devices", "a=6,b=4", "--p95", "33.5", "--budget", "3")
    document = placed(*words, code=1)
    assert document["outcome"] == "none found"
    assert document["simulated_devices"] == 3
    assert "allow more tries" in document["reason"]
    assert len(list(rows(document))) == 4


def test_a_bad_trace_is_named_and_left_out_if_wanted(vms: Path) -> None:
    Path("vms/bad.csv").write_text("no trace\n")
    write(Path("vms/short.parquet"), 1, requests=15)
    words = ("place", "--each", "vms", "--devices", "a=16", "--p95", "60", "--accept-poor-fit")
    refused = understudy(*words, "--out", "run")
    assert (refused.exit_code, Path("run").exists()) == (2, False)
    done = understudy(*words, "--bad-traces", "leave-out", "--out", "run")
    assert done.exit_code == 0, done.output
    for name in ("bad", "short"):
        assert f"{name}, and every VM with its trace, is left out: " in done.stderr
    document = json.loads(Path("run/result.json").read_text())
    assert document["inputs"]["left_out"] == ["bad", "short"]
    assert sorted(one["name"] for _, one in rows(document)) == sorted(GAPS_MS)
    shutil.rmtree("vms")
    Path("vms").mkdir()
    Path("vms/bad.csv").write_text("no trace\n")
    none = understudy(*words, "--bad-traces", "leave-out", "--out", "other")
    assert none.exit_code == 2
    assert none.stderr.splitlines()[-1].endswith("no VM has a usable trace; name other traces")


def test_vms_stay_within_capacities(vms: Path) -> None:
    """Only device b has room for mail."""
    sizes = {"web": 90, "mail": 200, "db": 50, "log": 40}
    text = ",".join(f"{name}={size}" for name, size in sizes.items())
    words = ("--each", "vms", "--devices", "a=9,b=9", "--p95", "60", "--sizes-gb", text)
    document = placed(*words, "--capacities-gb", "a=100,b=300")
    on = {device["name"]: [one["name"] for one in device["vms"]] for device in document["devices"]}
    assert "mail" in on["b"]
    assert sum(sizes[name] for name in on["a"]) <= 100
    assert sum(sizes[name] for name in on["b"]) <= 300
    assert document["inputs"]["capacities_gb"] == {"a": 100, "b": 300}
    assert document["inputs"]["sizes_gb"] == sizes
    none = placed(*words, "--capacities-gb", "a=100,b=250", code=1)
    assert none["outcome"] == "none exists"
    assert none["reason"].startswith("the VMs need 380 GB, but all devices together have 350 GB")


def test_vms_share_a_device_or_not_as_given(vms: Path) -> None:
    words = ("--each", "vms", "--devices", "a=9,b=9", "--p95", "60", "--copies", "log=2")
    document = placed(*words, "--together", "db,web", "--apart", "log", "--apart", "web,mail")
    where = {one["name"]: device["name"] for device, one in rows(document)}
    assert where["db"] == where["web"] != where["mail"]
    assert where["log"] != where["log#2"]
    assert document["inputs"]["together"] == [["db", "web"]]
    assert document["inputs"]["apart"] == [["log", "log#2"], ["mail", "web"]]


def test_few_vms_move_from_where_they_are_today(vms: Path) -> None:
    """All VMs are on one device, which they would keep busy for 95 % of the time."""
    names = ",".join(f"{name}=a" for name in GAPS_MS)
    words = ("--each", "vms", "--devices", "a=10,b=10", "--p95", "60", "--today", names)
    document = placed(*words)
    [move] = document["moves"]["vms"]
    assert (move["from"], move["to"], move["gb"]) == ("a", "b", None)
    assert document["moves"]["fewest"]
    assert document["moves"]["p95_of_target_today"] > 1
    assert move["p95_of_target_without"] == document["moves"]["p95_of_target_today"]
    sizes = "web=100,mail=80,db=60,log=900"
    by_size = placed(*words, "--sizes-gb", sizes)
    assert sum(one["gb"] for one in by_size["moves"]["vms"]) == by_size["moves"]["gb"] <= 100
    none = placed(*words, "--moves-at-most", "0", code=1)
    assert none["outcome"] == "none exists"
    assert "with at most 0 moves" in none["reason"]
    done = understudy("place", *words, "--out", "run", "--accept-poor-fit")
    assert (
        f"1 of 4 VMs moves; today the worst p95 is that of {move['worst_without']}: " in done.stdout
    )
    assert "no fewer can move" in done.stdout
    Path("run").rename("before")
    again = placed(*words[:-1], "before/result.json")
    assert again["moves"]["vms"] == []
    assert again["simulated_devices"] == 2


def test_an_interval_says_whose_target_is_uncertain(vms: Path) -> None:
    """A trace shows the 95th percentile less precisely than sixteen replications of it do."""
    words = ("vms/log.parquet", "--devices", "a=8", "--p95")
    [[_, one]] = rows(placed(*words, "400"))
    low, high = one["p95_ci95_ms"]
    assert low < one["p95_response_ms"] < one["p95_at_most_ms"] < high < 400
    assert not one["uncertain"]
    between = str((one["p95_at_most_ms"] + high) / 2)
    [[_, one]] = rows(placed(*words, between))
    assert one["meets_target"]
    assert one["uncertain"]
    done = understudy("place", *words, between, "--out", "run", "--accept-poor-fit")
    assert "uncertain, since a trace is only a sample: log" in done.stdout


def test_copies_are_vms_of_their_own(vms: Path) -> None:
    """Copies differ only in their arrivals; a trace given twice counts as a copy as well."""
    document = placed(
        "vms/log.parquet", "other=vms/log.parquet", "vms/db.parquet", "--copies", "log=5",
        "--devices", "a=8,b=8", "--p95", "40", "--targets", "log#3=50,other=60",
    )  # fmt: skip
    targets = {one["name"]: one["target_p95_ms"] for _, one in rows(document)}
    assert targets == {"log": 40, "log#2": 40, "log#3": 50, "log#4": 40, "log#5": 40} | {
        "other": 60,
        "db": 40,
    }
    alike = [(device["servers"], one["load"]) for device, one in rows(document)]
    assert len(set(alike)) == 2


def test_the_same_seed_gives_the_same_answer(vms: Path) -> None:
    """The number of parallel replications does not matter."""
    words = ("--each", "vms", "--devices", "a=8,b=5", "--p95", "40")
    first, again = ({**placed(*words, "--jobs", jobs), "inputs": None} for jobs in ("1", "3"))
    other = placed(*words, "--seed", "2")
    assert first == again
    assert first["devices"] != other["devices"]


def test_the_table_and_the_report_show_devices_and_vms(vms: Path) -> None:
    words = ("place", "--each", "vms", "--devices", "fast=9,slow=4", "--p95", "36")
    done = understudy(*words, "--out", "run", "--accept-poor-fit")
    assert done.exit_code == 0, done.output
    page = Path("run/report.html").read_text()
    for word in ("fast", "slow", *GAPS_MS):
        assert word in done.stdout
        assert word in page
    assert "every VM's p95 is at most its target" in done.stdout
    document = json.loads(Path("run/result.json").read_text())
    assert document["trusted"] is None
    assert "serves as many requests at once as given and merges nothing" in document["because"][1]
    assert document["ci95_covers"].startswith("95 % intervals cover the random draws")
    assert "each trace is only a sample" in document["ci95_covers"]
    for sentence in (f"not checked: {'; '.join(document['because'])}", document["ci95_covers"]):
        assert sentence in " ".join(done.stdout.split())
        assert sentence in page
    assert page.count("<svg") == 2
    assert {file.name for file in Path("run").iterdir()} == {"result.json", "report.html"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--each", "vms", "--p95", "40"], "Missing option '--queue-depths'"),
        (["--devices", "a=8", "--p95", "40"], "no VM"),
        (ON_A, "db has no target"),
        (["--each", "vms", "--devices", "a="], "--queue-depths: a=: write NAME=SERVERS"),
        (["--each", "vms", "--devices", "=8"], "--queue-depths: =8: write NAME=SERVERS"),
        (
            [*ON_A[:2], "--devices", "a,b=8", "--p95", "9"],
            "a has no number of servers, and no trace",
        ),
        (["--each", "vms", "--devices", ""], "--queue-depths: no device"),
        (["--each", "vms", "--devices", "a=8,a=9", "--p95", "9"], "a is named twice"),
        (["--each", "vms", "--devices", "a=0", "--p95", "9"], "from 1 to 1,024"),
        (
            [*ALL, "--targets", "x=1"],
            "no VM is called",
        ),
        ([*ON_A, "--targets", "db=0"], "a time above 0"),
        ([*ON_A, "--targets", "db=nan"], "a time above 0"),
        ([*ALL, "--copies", "x=2"], "no VM is called"),
        ([*ALL, "--copies", "db=0"], "from 1 to"),
        (
            [*ALL, "--copies", "db=999,web=9"],
            "at most",
        ),
        ([*ALL, "--merge", "0.5"], "a value from 1"),
        ([*ALL, "--split", "0"], "number of blocks"),
        (["vms/db.parquet", "--each", "vms", "--devices", "a=8", "--p95", "9"], "VM called db"),
        (["--each", "none", "--devices", "a=8", "--p95", "9"], "does not exist"),
        (["--each", "empty", "--devices", "a=8", "--p95", "9"], "empty: empty"),
        (["short.parquet", "--devices", "a=8", "--p95", "9"], "short: 19 service times"),
    ],
)
def test_what_is_wrong_is_one_line(vms: Path, words: list[str], message: str) -> None:
    Path("empty").mkdir()
    write(Path("short.parquet"), 1, requests=19)
    done = understudy("place", *words, "--out", "run")
    assert done.exit_code == 2
    assert message in done.stderr.splitlines()[-1]
    assert not Path("run").exists()


def test_a_folder_of_folders_and_traces_is_a_vm_each(vms: Path) -> None:
    """A subfolder holds the runs of one VM."""
    Path("vms/runs").mkdir()
    for name in ("db", "log"):
        Path(f"vms/{name}.parquet").rename(f"vms/runs/{name}.parquet")
    Path("vms/.hidden").write_text("not a trace")
    document = placed("--each", "vms", "--devices", "a=16", "--p95", "60")
    assert [one["name"] for _, one in rows(document)] == ["runs", "mail", "web"]


def test_what_was_waited_on_the_traced_device_is_no_load(vms: Path) -> None:
    """Four requests arrive together every 100 ms at one server, which is busy for 40 % of the
    time.  On average 1 request is present, because they wait for each other."""
    draw = np.random.default_rng(1)
    arrival_ns = np.repeat(np.arange(600) * 100_000_000, 4)
    completion_ns, free_ns = [], 0
    for arrived_ns, service_ns in zip(
        arrival_ns.tolist(), draw.uniform(8e6, 12e6, 2400), strict=True
    ):
        free_ns = max(free_ns, arrived_ns) + int(service_ns)
        completion_ns.append(free_ns)
    write(Path("bursts.parquet"), 1, 2400, arrival_ns=arrival_ns, completion_ns=completion_ns)
    words = ("bursts.parquet", "--devices", "a=2", "--p95", "99")
    document = placed(*words, "--traced-on", "1")
    assert document["offered_load"] == pytest.approx(0.4 / 2, rel=0.03)
    assert document["inputs"]["depth_from"] == "--traced-on"
    estimated = placed(*words)
    assert estimated["offered_load"] == document["offered_load"]
    assert estimated["inputs"]["traced_on"] == 1
    assert estimated["inputs"]["depth_from"].startswith("estimated from the traces: ")
    alike = placed("bursts.parquet", "--devices", "a,b", "--p95", "99")
    assert [one["servers"] for one in alike["devices"]] == [1, 1]


def test_a_depth_that_traces_do_not_show_is_told(vms: Path) -> None:
    """Then response times are service times, as with a device on which no request waits."""
    words = ("--each", "vms", "--devices", "a=9,b=9", "--p95", "60")
    document = placed(*words)
    assert document["inputs"]["traced_on"] is None
    assert document["inputs"]["depth_from"].startswith("no trace shows how many requests")
    assert document["devices"] == placed(*words, "--traced-on", "1024")["devices"]
    done = understudy("place", *words, "--out", "run", "--accept-poor-fit")
    assert "response times are taken for service times, which is the safe side" in done.stderr


def test_a_trace_that_contradicts_the_traced_device_is_refused(vms: Path) -> None:
    words = ("place", "--each", "vms", "--devices", "a=9", "--p95", "60", "--traced-on", "1")
    done = understudy(*words, "--out", "run", "--accept-poor-fit")
    assert (done.exit_code, Path("run").exists()) == (2, False)
    assert "the trace contradicts --traced-on 1: alone " in done.stderr.splitlines()[-1]
    assert "; try --traced-on " in done.stderr.splitlines()[-1]


def machine(tmp_path: Path, name: str, seed: int, requests: int) -> VirtualMachine:
    trace = write(tmp_path / f"{name}.parquet", seed, requests)
    return read(name, trace, tmp_path / name, Reduction())


def test_fits_side_by_side_are_those_one_after_another(tmp_path: Path) -> None:
    machines = [machine(tmp_path, f"vm{i}", i, 1500) for i in range(3)]
    names: list[str] = []
    together = fit_each(machines, accept_poor=True, jobs=2, done=names.append)
    alone = fit_each(machines, accept_poor=True, jobs=1)
    assert sorted(names) == ["vm0", "vm1", "vm2"]
    for one, other in zip(together, alone, strict=True):
        assert np.array_equal(one.process.d0, other.process.d0)
        assert np.array_equal(one.process.d1, other.process.d1)
    assert len({fitted.process.mean for fitted in together}) == 3


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_first_that_can_not_be_fitted_is_named(tmp_path: Path, jobs: int) -> None:
    sizes = {"good": 1500, "short": 19, "shorter": 10}
    machines = [machine(tmp_path, name, 1, size) for name, size in sizes.items()]
    with pytest.raises(ValueError, match="short: 19 service times: at least 20"):
        fit_each(machines, accept_poor=True, jobs=jobs)
