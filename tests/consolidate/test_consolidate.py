# SPDX-License-Identifier: MIT
"""`understudy consolidate` from traces to predictions, compared with closed forms and with its
own results."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import naive_consolidation as naive
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

from understudy_devices.cli.main import main

pytestmark = pytest.mark.thorough

SERVERS = 8
SERVICE_MS = 10.0
LITTLE = ("--depth", str(SERVERS), "--replications", "4", "--merge", "1")


def understudy(*words: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, words, catch_exceptions=False)


def answered(*words: str) -> Any:
    """Return the output of `understudy consolidate --json`."""
    done = understudy("consolidate", *words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def write(file: Path, seed: int, requests: int = 4000, gap_ms: float = 4.0, **more: Any) -> Path:
    """Write the trace of a VM whose requests never wait when it is alone: Poisson arrivals,
    exponential service."""
    draw = np.random.default_rng(seed)
    arrival_ns = (draw.exponential(gap_ms, requests).cumsum() * 1e6).astype(np.int64)
    service_ns = (draw.exponential(SERVICE_MS, requests) * 1e6).astype(np.int64)
    columns = {
        "arrival_ns": arrival_ns,
        "sector": draw.integers(0, 10**6, requests) * 8,
        "sectors": np.full(requests, 8),
        "completion_ns": arrival_ns + service_ns,
    }
    pl.DataFrame(columns | more).write_parquet(file)
    return file


def naive_traces(requests: int, gap_ms: float) -> list[float]:
    """Write a.parquet and b.parquet, each VM alone on four servers; return the mean response
    times together, in ms."""
    draw = np.random.default_rng(11)
    jobs: list[list[naive.Job]] = []
    for k, name in enumerate("ab"):
        at_ns = (draw.exponential(gap_ms, requests).cumsum() * 1e6).astype(int)
        service_ns = (draw.exponential(SERVICE_MS, requests) * 1e6).astype(int)
        jobs.append(
            [
                naive.Job(k, int(at), int(service), request)
                for request, (at, service) in enumerate(zip(at_ns, service_ns, strict=True))
            ]
        )
        alone = naive.simulated([replace(job, k=0) for job in jobs[k]], [1], 4, [Fraction(1)], 1)
        ends_ns = [job.completion for job in alone]
        write(Path(f"{name}.parquet"), 1, requests, arrival_ns=at_ns, completion_ns=ends_ns)
    both = naive.simulated([*jobs[0], *jobs[1]], [1, 1], 4, [Fraction(1)] * 2, 1)
    return [float(np.mean(naive.responses(both, k))) / 1e6 for k in range(2)]


def erlang_c_ms(erlangs: float, servers: int) -> float:
    """Return the mean response time of M/M/n in ms, by Erlang's recursion."""
    blocked = 1.0
    for one in range(1, servers + 1):
        blocked = erlangs * blocked / (one + erlangs * blocked)
    waits = blocked / (1 - erlangs / servers * (1 - blocked))
    return SERVICE_MS * (1 + waits / (servers - erlangs))


@pytest.fixture
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with web.parquet, mail.parquet, and runs/ with three runs."""
    monkeypatch.chdir(tmp_path)
    write(Path("web.parquet"), 1)
    write(Path("mail.parquet"), 2)
    Path("runs").mkdir()
    for run in range(3):
        write(Path("runs") / f"{run}.parquet", 3 + run, requests=3000)
    return tmp_path


def test_a_queue_whose_answer_is_known(traces: Path) -> None:
    """6.25 of 8 servers are busy, and a request waits for 2.4 ms on average.  Shares are equal,
    so the VM with the lower load waits less."""
    write(Path("a.parquet"), 5, requests=20_000)
    write(Path("b.parquet"), 6, requests=15_000, gap_ms=SERVICE_MS / 3.75)
    done = understudy("consolidate", "a.parquet", "b.parquet", *LITTLE, "--json")
    assert "a: 50% of a run's requests are simulated" in done.stderr
    assert "b: 1" not in done.stderr
    vms = json.loads(done.stdout)["vms"]
    mean_ms = [vm["together"]["mean_response_ms"] for vm in vms]
    requests = [vm["together"]["requests"] for vm in vms]
    want = erlang_c_ms(6.25, SERVERS)
    assert want == pytest.approx(12.4, abs=0.1)
    assert np.average(mean_ms, weights=requests) == pytest.approx(want, rel=0.05)
    assert SERVICE_MS < mean_ms[0] < mean_ms[1]
    assert sum(vm["utilisation"] for vm in vms) == pytest.approx(6.25 / SERVERS, rel=0.03)


def test_a_vm_that_is_alone_stays_as_it_was(traces: Path) -> None:
    """The search for a merge value finds that nothing is merged."""
    words = ("--depth", "32", "--merge", "common", "--replications", "6")
    [vm] = answered("runs", *words)["vms"]
    alone, together = vm["alone"], vm["together"]
    assert together["merge_value"] == 1
    for figure in ("mean_response_ms", "p50_response_ms", "p95_response_ms", "in_system"):
        assert together[figure] == pytest.approx(alone[figure], rel=0.06)


def test_the_answer_holds_together(traces: Path) -> None:
    document = answered("web.parquet", "post=mail.parquet", "runs", *LITTLE, "--weights", "post=3")
    assert [vm["name"] for vm in document["vms"]] == ["web", "post", "runs"]
    assert [vm["weight"] for vm in document["vms"]] == [1, 3, 1]
    assert [vm["requests"] for vm in document["vms"]] == [4000, 4000, 9000]
    assert document["replications"] == 4
    assert document["device"]["servers"] == SERVERS
    for vm in document["vms"]:
        together = vm["together"]
        low, high = together["ci95_ms"]
        assert low < together["mean_response_ms"] < high
        assert together["p50_response_ms"] < together["p95_response_ms"]
        assert together["mean_response_ms"] > vm["alone"]["mean_response_ms"]
        assert together["split_ratio"] == 1
    by_weight = [vm["together"]["mean_response_ms"] for vm in document["vms"]]
    assert by_weight[1] < min(by_weight[0], by_weight[2])


def test_the_same_seed_gives_the_same_bytes(traces: Path) -> None:
    """The number of parallel replications does not matter."""
    words = ("runs", "web.parquet", "--depth", "8", "--replications", "5")
    first, again, other = (
        {**answered(*words, *more), "inputs": None}
        for more in (("--jobs", "1"), ("--jobs", "3"), ("--seed", "2"))
    )
    assert first == again
    assert first != other


def test_the_run_folder(traces: Path) -> None:
    done = understudy("consolidate", "web.parquet", "mail.parquet", *LITTLE, "--out", "found")
    assert done.exit_code == 0, done.output
    assert "product form" in done.stdout
    assert sorted(file.name for file in Path("found").iterdir()) == [
        "replications.parquet",
        "report.html",
        "result.json",
    ]
    document = json.loads(Path("found/result.json").read_text())
    rows = pl.read_parquet("found/replications.parquet")
    assert rows.height == 8
    for vm in document["vms"]:
        own = rows.filter(pl.col("vm") == vm["name"])
        assert vm["together"]["mean_response_ms"] == pytest.approx(own["mean_response_ms"].mean())
        assert vm["together"]["p95_response_ms"] == pytest.approx(own["p95_response_ms"].mean())
    page = Path("found/report.html").read_text()
    assert page.count("<figure") == 5
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_what_is_split_arrives_as_pieces(traces: Path) -> None:
    """Requests of 3 blocks are split into single blocks: the load triples, and the mean response
    time without contention stays equal."""
    write(Path("large.parquet"), 9, gap_ms=20.0, sectors=np.full(4000, 24))
    words = ("large.parquet", "--depth", "64", "--merge", "1", "--replications", "4")
    [whole] = answered(*words)["vms"]
    [split] = answered(*words, "--split", "1")["vms"]
    assert (whole["together"]["split_ratio"], split["together"]["split_ratio"]) == (1, 3)
    assert split["utilisation"] == pytest.approx(3 * whole["utilisation"])
    assert split["together"]["mean_response_ms"] == pytest.approx(SERVICE_MS, rel=0.05)
    assert split["together"]["p95_response_ms"] < whole["together"]["p95_response_ms"]


def test_what_if(traces: Path) -> None:
    words = ("web.parquet", *LITTLE, "--what-if", "depth=3,64", "--what-if", "web.copies=2")
    document = answered(*words)
    changes = {other["change"]: other for other in document["what_if"]}
    assert list(changes) == ["depth=3", "depth=64", "web.copies=2"]
    mean_ms = {
        change: other["vms"][0]["together"]["mean_response_ms"] for change, other in changes.items()
    }
    assert mean_ms["depth=3"] > document["vms"][0]["together"]["mean_response_ms"]
    assert mean_ms["depth=64"] == pytest.approx(SERVICE_MS, rel=0.05)
    copies = changes["web.copies=2"]
    assert [vm["name"] for vm in copies["vms"]] == ["web", "web#2"]
    assert copies["device"]["offered_load"] == pytest.approx(
        2 * document["device"]["offered_load"], rel=0.01
    )
    assert mean_ms["web.copies=2"] == pytest.approx(erlang_c_ms(5, SERVERS), rel=0.05)


def test_too_much_is_said_with_what_would_do(traces: Path) -> None:
    """Two VMs that four servers can serve one by one, but not together."""
    naive_traces(requests=2000, gap_ms=4)
    done = understudy("consolidate", "a.parquet", "b.parquet", "--depth", "4", *LITTLE[2:])
    assert done.exit_code == 0
    load = re.search(r"the VMs ask for ([\d.]+) times what 4 servers can do: waiting", done.stderr)
    assert load
    assert float(load[1]) == pytest.approx(2 * SERVICE_MS / 4 / 4, rel=0.05)
    enough = re.search(
        r"without merging --queue-depth (\d+) would be stable, or (\d+)% of each VM's requests",
        done.stderr,
    )
    assert enough
    assert 4 * float(load[1]) < int(enough[1]) <= 4 * float(load[1]) + 1
    assert int(enough[2]) == pytest.approx(100 / float(load[1]), abs=1.5)


def test_a_device_that_merges_nothing(traces: Path) -> None:
    """The predictions match a naive simulation of four servers that shares no code with ours.
    The search must not take a longer queue for merged requests."""
    naive_responses = naive_traces(requests=6000, gap_ms=6.3)
    document = answered("a.parquet", "b.parquet", "--depth", "4")
    mean_ms = [vm["together"]["mean_response_ms"] for vm in document["vms"]]
    assert min(naive_responses) > 1.4 * SERVICE_MS
    assert mean_ms == pytest.approx(naive_responses, rel=0.05)
    assert [vm["together"]["merge_value"] for vm in document["vms"]] == [1, 1]
    searched = answered("a.parquet", "b.parquet", "--depth", "4", "--merge", "common")
    for vm, naive_ms in zip(searched["vms"], naive_responses, strict=True):
        assert vm["together"]["mean_response_ms"] < 0.9 * naive_ms


def test_what_was_not_checked_is_said(traces: Path) -> None:
    """The table, result.json and the report name what was not checked, and what the intervals
    exclude."""
    done = understudy("consolidate", "web.parquet", "mail.parquet", *LITTLE, "--out", "found")
    document = json.loads(Path("found/result.json").read_text())
    assert document["trusted"] is None
    assert document["because"] == [
        "a run of these VMs together",
        f"that the device serves {SERVERS} at once and merges nothing",
    ]
    words = " ".join(done.stdout.split())
    page = Path("found/report.html").read_text()
    for text in (words, page):
        assert f"not checked: {'; '.join(document['because'])}" in text
        assert document["ci95_covers"] in text
    assert "each trace is only a sample of a VM that does not change" in document["ci95_covers"]
    merged = answered("web.parquet", "mail.parquet", *LITTLE[:-1], "2.5")
    assert "serves 8 at once and merges up to 2.5 requests" in merged["because"][1]


def test_servers_that_a_trace_contradicts(traces: Path) -> None:
    """The trace has more requests in service than the servers given.  The command is refused, and
    names a number of servers that it accepts, with which no request waits."""
    write(Path("wide.parquet"), 5, gap_ms=1.0)
    refused = understudy("consolidate", "wide.parquet", "--depth", "4", "--replications", "2")
    assert refused.exit_code == 2
    assert "wide: the trace contradicts --queue-depth 4: alone" in refused.output
    assert "completed before one of 4 servers could have taken them" in refused.output
    [most] = re.findall(r"try --queue-depth (\d+) \(at most \1 requests", refused.output)
    words = ("wide.parquet", "--depth", most, "--replications", "4")
    [vm] = answered(*words)["vms"]
    alone_ms = vm["alone"]["mean_response_ms"]
    assert vm["together"]["mean_response_ms"] == pytest.approx(alone_ms, rel=0.1)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["web.parquet", "web.parquet"], "there is a VM called web already (web.parquet); rename"),
        (["a=", "web.parquet"], "a=: give a VM as NAME=PATH"),
        (["nobody.parquet", *LITTLE], "nobody.parquet: No such file"),
        (["empty", *LITTLE], "empty: no trace in this folder"),
        (["arrivals.csv", *LITTLE], "arrivals.csv: has arrivals only"),
        (["short.parquet", *LITTLE], "short: 19 service times: at least 20 are needed; give a"),
        (
            ["cut.csv", *LITTLE],
            "understudy trace convert cut.csv OUT.parquet keeps what can be read",
        ),
        (["web.parquet", "--depth", "2000"], "--queue-depth"),
        (["web.parquet", "--disk", "vespa"], 'unknown disk "vespa"'),
        (
            ["web.parquet", *LITTLE, "--disk", "array-32"],
            "--disk: not with --queue-depth, which",
        ),
        (["--self-check", "--disk", "array-32"], "--disk: not with --self-check"),
        ([], "no VM: name a trace for each"),
        (["--self-check", "PM-3"], "PM-3: no such configuration; there are PM-1"),
        (["--self-check", "--depth", "8"], "--queue-depth: not with --self-check"),
        (["web.parquet", "--merge", "0.5"], "--merge: 0.5: write common, per-vm, or a value"),
        (["web.parquet", "--merge", "nan"], "--merge: nan: write"),
        (["web.parquet", "--split", "0"], "--split: 0 is not a number of blocks"),
        (["web.parquet", "--weights", "mail=2"], "--weights: no VM is called mail; there are web"),
        (["web.parquet", "--weights", "web=0"], "--weights: web=0: write NAME=N"),
        (["web.parquet", "--what-if", "dept=3"], "--what-if: dept=3: write depth=16,64"),
        (["web.parquet", "--what-if", "a.copies=3"], "no VM is called a; there are web"),
        (["web.parquet", "--what-if", "web.copies=0"], "0 is not a whole number from 1"),
    ],
)
def test_what_is_wrong_is_a_line(traces: Path, words: list[str], says: str) -> None:
    Path("empty").mkdir()
    Path("arrivals.csv").write_text("arrival_ns,sector,sectors\n1,8,8\n2,16,8\n")
    Path("cut.csv").write_text("1281,hm,1,Read,0,4096,413\n1290,hm,1,Read,0,4096,413\n13")
    write(Path("short.parquet"), 1, requests=19)
    done = understudy("consolidate", *words)
    assert done.exit_code == 2
    assert says in done.stderr
    assert "Traceback" not in done.output
    assert not Path("runs-").exists()


def test_what_no_process_fits_is_taken_from_the_trace(traces: Path) -> None:
    """A process that only has positive autocorrelation cannot fit alternating times.  Each takes
    less than eight servers, so requests never wait, and the answer is the measured mean."""
    narrow = np.where(np.arange(2000) % 2, 9_000_000, 11_000_000)
    arrival_ns = np.arange(2000) * 4_000_000
    ends_ns = arrival_ns + narrow
    write(Path("odd.parquet"), 1, requests=2000, arrival_ns=arrival_ns, completion_ns=ends_ns)
    done = understudy("consolidate", "odd.parquet", *LITTLE)
    assert done.exit_code == 0
    says = "odd: service times are taken from the trace: no process fits: a coefficient"
    assert says in done.stderr
    [vm] = answered("odd.parquet", *LITTLE)["vms"]
    assert vm["service_times"]["from"] == "trace"
    assert vm["together"]["mean_response_ms"] == pytest.approx(10, rel=1e-3)
    done = understudy("consolidate", "odd.parquet", *LITTLE, "--accept-poor-fit")
    assert done.exit_code == 0
    assert "odd: fitted poorly: a coefficient of variation" in done.stderr
    assert "checked and off: odd: fitted poorly: a coefficient" in " ".join(done.stdout.split())


def test_a_short_trace_is_answered(traces: Path) -> None:
    write(Path("brief.parquet"), 1, requests=119)
    done = understudy("consolidate", "brief.parquet", *LITTLE)
    assert done.exit_code == 0
    words = "brief: service times are taken from the trace: 119 are too few to fit a process"
    assert words in done.stderr


def test_a_run_folder_has_a_run_a_seed(traces: Path) -> None:
    words = ("--disk", "array-32", "--workload", "random", "--processes", "9", "--requests", "900")
    done = understudy("predict", *words, "--schedulers", "fcfs", "--seeds", "2", "--out", "alone")
    assert done.exit_code == 0, done.output
    document = answered("alone", "--replications", "4")
    [vm] = document["vms"]
    recorded = {"depth": 32, "depth_from": "recorded on array-32"}
    assert {name: document["inputs"][name] for name in recorded} == recorded
    file = "alone/requests.parquet"
    assert vm["runs"] == [f"{file}:fcfs:1", f"{file}:fcfs:2"]
    assert (vm["name"], vm["requests"]) == ("alone", 1800)
    both = understudy("predict", *words, "--schedulers", "fcfs,sfq", "--out", "both")
    assert both.exit_code == 0, both.output
    done = understudy("consolidate", "both", *LITTLE)
    assert done.exit_code == 2
    file = "both/requests.parquet"
    assert f"{file}: name one scheduler, as {file}:fcfs; there are: fcfs, sfq" in done.stderr
    [vm] = answered(f"both={file}:sfq", "--replications", "4", "--depth", "32")["vms"]
    assert vm["runs"] == [f"{file}:sfq:1"]


def test_who_says_how_many_the_device_serves(traces: Path) -> None:
    """The number of servers comes from a profile, or from the VMs' run folders if these agree."""
    words = ("--workload", "random", "--requests", "900", "--schedulers", "fcfs")
    for name, disk in (("wide", "array-32"), ("narrow", "cheetah-9lp")):
        done = understudy("predict", "--disk", disk, *words, "--out", name)
        assert done.exit_code == 0, done.output
    result = answered("web.parquet", "--disk", "array-32", "--replications", "2")
    assert result["device"]["servers"] == 32
    assert result["inputs"]["depth_from"] == "--disk array-32"
    result = answered("narrow", "--replications", "2", "--accept-poor-fit")
    assert result["inputs"]["depth_from"] == "recorded on cheetah-9lp"
    assert result["device"]["servers"] == 1
    for other, says in (
        ("narrow", "wide: 32 (recorded on array-32), narrow: 1 (recorded on cheetah-9lp)"),
        ("web.parquet", "wide: 32 (recorded on array-32): give the number"),
    ):
        done = understudy("consolidate", "wide", other)
        assert done.exit_code == 2
        assert f"--queue-depth: not given, and traces say: {says}" in done.stderr
    document = json.loads(Path("narrow/result.json").read_text())
    document["inputs"] |= {"platform": "real", "depth": 8}
    Path("narrow/result.json").write_text(json.dumps(document))
    result = answered("narrow", "--replications", "2")
    assert "no trace shows how many" in result["inputs"]["depth_from"]
    Path("many.toml").write_text('[array]\nservers = 2000\nservice_ms = 1.0\nsource = "nobody"\n')
    done = understudy("consolidate", "web.parquet", "--disk", "many.toml")
    assert done.exit_code == 2
    assert "--disk many.toml: 2,000 servers, more than 1,024; give --queue-depth" in done.stderr


def test_the_traces_show_how_many_the_device_serves(traces: Path) -> None:
    """One server serves in order; its requests wait half of the time."""
    draw = np.random.default_rng(8)
    at_ns = np.cumsum(draw.exponential(20e6, 600)).astype(np.int64)
    ends_ns = np.empty(600, np.int64)
    free_ns = 0
    for i, service_ns in enumerate(draw.exponential(10e6, 600).astype(np.int64).tolist()):
        free_ns = max(free_ns, int(at_ns[i])) + service_ns
        ends_ns[i] = free_ns
    write(Path("one.parquet"), 1, requests=600, arrival_ns=at_ns, completion_ns=ends_ns)
    result = answered("one.parquet", "--replications", "2")
    assert result["device"]["servers"] == 1
    assert result["inputs"]["depth_from"].startswith("estimated from the traces: ")
    done = understudy("consolidate", "one.parquet", "--queue-depth", "8", "--replications", "2")
    assert "one: the trace shows 1 served at once, not 8: " in done.stderr
    assert "check --queue-depth" in done.stderr


def test_an_unknown_depth_is_bracketed(traces: Path) -> None:
    """Requests overlap, and none shows that it waited: the answer covers the smallest D that the
    traces do not contradict, and the D with which no request waits."""
    done = understudy("consolidate", "web.parquet", "mail.parquet", "--replications", "2")
    assert done.exit_code == 0, done.output
    [low, high] = re.findall(r"tried: (\d+), the smallest D .*, and (\d+), with", done.stderr)[0]
    result = answered("web.parquet", "mail.parquet", "--replications", "2")
    assert (result["inputs"]["depth"], result["inputs"]["depth_most"]) == (int(low), int(high))
    ends = result["depths"]
    assert [end["device"]["servers"] for end in ends] == [int(low), int(high)]
    for k, vm in enumerate(result["vms"]):
        each = [end["vms"][k]["together"] for end in ends]
        assert vm["together"]["mean_response_ms"] == each[0]["mean_response_ms"]
        assert each[1]["mean_response_ms"] == pytest.approx(vm["alone"]["mean_response_ms"], 0.1)
        low_ms, high_ms = vm["together"]["ci95_ms"]
        assert low_ms == min(one["ci95_ms"][0] for one in each)
        assert high_ms == max(one["ci95_ms"][1] for one in each)
    assert result["trusted"] is None
    assert f"serves {low} to {high} at once" in result["because"][1]
    assert f"with D={high}, the largest" in done.stdout


def test_requests_that_the_vm_merged_are_one(traces: Path) -> None:
    """A run folder has one row for each bio, and records which bios formed one disk request."""
    words = ("--disk", "cheetah-15k4", "--workload", "surge-buffered", "--processes", "20")
    done = understudy("predict", *words, "--schedulers", "look", "--seeds", "1", "--out", "vm")
    assert done.exit_code == 0, done.output
    rows = pl.read_parquet("vm/requests.parquet")
    sent = rows["request_id"].n_unique()
    assert sent < rows.height
    done = understudy("consolidate", "vm", "--replications", "2", "--accept-poor-fit", "--json")
    assert done.exit_code == 0, done.output
    assert f"left out: {rows.height - sent:,} merged into another of the VM's" in done.stderr
    assert "completed before" not in done.stderr
    [vm] = json.loads(done.stdout)["vms"]
    assert vm["requests"] == sent
