# SPDX-License-Identifier: MIT
"""The command line: exit codes, errors on one line, results on stdout."""

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sample_runs import FakePlatform, experiment

from understudy_devices import platforms
from understudy_devices.ask.experiment import Experiment, Outcome
from understudy_devices.ask.setting import OnVm
from understudy_devices.base import sizes
from understudy_devices.base.errors import UserError
from understudy_devices.base.progress import Report
from understudy_devices.campaign import parallel
from understudy_devices.cli.main import main
from understudy_devices.recommend.choice import GOALS

pytestmark = pytest.mark.thorough

SMALL = ("predict", "--on", "vm", "--requests", "50", "--out")


@pytest.fixture
def platform(monkeypatch: pytest.MonkeyPatch) -> FakePlatform:
    """Replace every platform by a fake, so that no VM starts."""
    fake = FakePlatform()
    monkeypatch.setattr(platforms, "load", lambda name: fake)
    return fake


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test if a platform is even loaded."""

    def load(name: str) -> platforms.Platform:
        raise AssertionError("a wrong request reached the platform")

    monkeypatch.setattr(platforms, "load", load)


def understudy(*words: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, words, catch_exceptions=False)


def test_prediction_prints_the_table_and_writes_the_folder(
    platform: FakePlatform, tmp_path: Path
) -> None:
    done = understudy(*SMALL, str(tmp_path / "run"))
    assert done.exit_code == 0
    for words in (
        "mean service (ms)",
        "p99 response (ms)",
        "wall seconds to boot",
        "wall seconds to measure",
        "for mean response pick cats",
        "for tail response pick",
        "for throughput pick",
    ):
        assert words in done.stdout
    assert f"$ understudy predict --on vm --requests 50 --out {tmp_path / 'run'}\n" in done.stderr
    assert len(list((tmp_path / "run").iterdir())) == 3
    assert [run.scheduler.name for run in platform.prepared] == [
        "cats",
        "mq-deadline",
        "bfq",
        "none",
    ]


def test_defaults_are_the_issues(platform: FakePlatform, tmp_path: Path) -> None:
    understudy("predict", "--on", "vm", "--out", str(tmp_path / "run"))
    run = platform.prepared[0]
    assert (run.device.disk.name, run.workload.name) == ("cheetah-15k4", "surge-direct")
    assert (run.requests, run.workload.processes, run.seed) == (5000, 50, 1)
    assert run.platform == OnVm(clock="virtual", scale=1.0, think_scale=1.0, controller="vdisk")
    assert run.device.virtual_bytes == pytest.approx(1.5e9, rel=1e-3)


@pytest.mark.parametrize(
    ("words", "before", "after"),
    [
        ((), (1.0, 1.0), (3.0, 3.0)),
        (("--think-scale", "1"), (1.0, 1.0), (3.0, 1.0)),
        (("--scale", "8"), (8.0, 8.0), (8.0, 8.0)),
    ],
)
def test_wall_clock_scales_think_times_unless_told(
    platform: FakePlatform,
    tmp_path: Path,
    words: tuple[str, ...],
    before: tuple[float, float],
    after: tuple[float, float],
) -> None:
    """The scales come from the given k, or later from the measured k."""
    understudy(*SMALL, str(tmp_path / "a"), "--clock", "wall", *words)
    setting = platform.prepared[0].platform
    assert (setting.scale, setting.think_scale) == before
    assert isinstance(setting, OnVm)
    held = setting.found(3.0)
    assert (held.scale, held.think_scale, held.to_find) == (*after, ())


def test_json_on_stdout_is_result_json(platform: FakePlatform, tmp_path: Path) -> None:
    done = understudy(
        *SMALL, str(tmp_path / "run"), "--json", "--schedulers", "fcfs", "--seeds", "2"
    )
    assert json.loads(done.stdout) == json.loads((tmp_path / "run" / "result.json").read_text())
    assert [run["seed"] for run in json.loads(done.stdout)["runs"]] == [1, 2]


def test_reproduce_on_both_platforms_ends_with_the_answer(
    platform: FakePlatform, tmp_path: Path
) -> None:
    words = ("reproduce", "table2", "--on", "sim,vm", "--requests", "60")
    done = understudy(*words, "--out", str(tmp_path / "run"))
    assert done.exit_code == 0
    assert done.stdout.count("Table 2: the O_DIRECT workload") == 2
    _, answer = done.stdout.split("sim against vm")
    lines = answer[answer.rindex("──") :].splitlines()[1:]
    heads = ("not checked: ", "cats: ", "Table 2: ranked ", *(f"for {goal} " for goal in GOALS))
    assert len(lines) == len(heads)
    assert all(line.startswith(head) for line, head in zip(lines, heads, strict=True))
    assert {place.name for place in (tmp_path / "run").iterdir()} == {"sim", "vm"}


def test_reproduce_prints_both_papers_columns(platform: FakePlatform, tmp_path: Path) -> None:
    done = understudy(
        "reproduce", "table3", "--on", "vm", "--requests", "60", "--out", str(tmp_path / "run")
    )
    assert done.exit_code == 0
    for words in (
        "Table 3",
        "8,080.16 (2)",
        "19,293 (2)",
        "foresaw",
        "not checked: cheetah-15k4, made from random reads of a page, one at a time,",
        "mq-deadline, the successor",
    ):
        assert words in done.stdout
    assert {run.workload.name for run in platform.prepared} == {"surge-buffered"}
    assert [run.scheduler.name for run in platform.prepared] == ["cats", "mq-deadline", "cfq"]
    assert {run.device.at_once for run in platform.prepared} == {2}
    assert "paper" in json.loads((tmp_path / "run" / "result.json").read_text())


def test_reproduce_with_one_at_a_time_if_that_is_asked(
    platform: FakePlatform, tmp_path: Path
) -> None:
    words = ("reproduce", "table2", "--on", "vm", "--requests", "60", "--queue-depth", "1")
    assert understudy(*words, "--out", str(tmp_path / "run")).exit_code == 0
    assert {run.device.at_once for run in platform.prepared} == {1}


def test_dry_run_prints_lines_one_can_paste_and_does_nothing(
    platform: FakePlatform, tmp_path: Path
) -> None:
    done = understudy(*SMALL, str(tmp_path / "run"), "--dry-run", "--schedulers", "cats,none")
    assert done.stdout.splitlines() == [
        "# cats, seed 1",
        "qemu-system-x86_64 -append 'scheduler cats'",
        "# none, seed 1",
        "qemu-system-x86_64 -append 'scheduler none'",
    ]
    assert platform.prepared == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["predict", "--disk", "cheetah-15k44"],
            'unknown disk "cheetah-15k44": did you mean "cheetah-15k4"? ',
        ),
        (["predict", "--schedulers", "catz"], 'unknown scheduler "catz": did you mean "cats"? '),
        (["predict", "--schedulers", ""], 'unknown scheduler "": there are: all, '),
        (["predict", "--schedulers", "all,fcfs"], "--schedulers: all can't be combined"),
        (["predict", "--schedulers", "/dev/null"], "--schedulers: /dev/null is not a file"),
        (["predict", "--schedulers", "cats,cats"], "--schedulers: cats is named twice"),
        (
            ["predict", "--workload", "surge"],
            'unknown workload "surge": did you mean "surge-direct"',
        ),
        (["reproduce", "table4"], 'unknown result "table4": did you mean "table'),
        (["predict", "--requests", "0"], "--requests: 0 is outside 1 to 100000000"),
        (["predict", "--processes", "10001"], "--processes: 10001 is outside 1 to 10000"),
        (["predict", "--processes", "0"], "--processes: 0 is outside 1 to 1000"),
        (["predict", "--writes", "30"], "--writes: surge-direct does not use it"),
        (["predict", "--seed", "-1"], "--seed: -1 is outside 0 to"),
        (["predict", "--on", "vm", "--scale", "nan"], "--scale: nan is outside 1 to 100"),
        (["predict", "--on", "vm", "--scale", "0.5"], "--scale: 0.5 is outside 1 to 100"),
        (["predict", "--virtual-size", "16K"], "--virtual-size: 16K is outside 64KiB to 16TiB"),
        (["predict", "--virtual-size", "64K"], "--virtual-size: 64K is outside 64KiB to 16TiB"),
        (
            ["predict", "--workload", "surge-buffered", "--page-cache", "4K"],
            "--page-cache: 4K is outside 4KiB to 1TiB",
        ),
        (["predict", "--set", "cats.busdriver_ns=" + "9" * 5000], '--set: "cats.busdriver_ns=999'),
        (["predict", "--weights", "9" * 20 + ",1"], "--weights: 2 for 50 processes"),
        (
            ["predict", "--weights", "9" * 20 + ",1", "--processes", "2"],
            "--weights: 99999999999999999999 is outside 1 to 10000",
        ),
        (["predict", "--trace", "t" * 300], "--trace: ttt"),
        (
            ["predict", "--on", "sim,vm", "--schedulers", "bfq,kyber"],
            "--schedulers: sim runs none of bfq, kyber; leave it out of --on, or add a scheduler",
        ),
        (
            ["predict", "--on", "vm,sim", "--schedulers", "bfq,kyber"],
            "--schedulers: sim runs none of bfq, kyber; leave it out of --on, or add a scheduler",
        ),
        (["predict", "--virtual-size", "big"], "--virtual-size: big is not a size"),
        (["predict", "--requests", "many"], "Invalid value for '--requests'"),
        (["predict", "--on", "simm"], 'unknown platform "simm": did you mean "sim"? '),
        (["predict", "--on", "vm,vm"], "--on: vm,vm names a platform twice"),
        (["predict", "--queue-depth", "0"], "--queue-depth: 0 is outside 1 to 4096"),
        (["predict", "--workload", "random", "--think", "-1"], "--think-ms: -1.0 is outside 0 to"),
        (["predict", "--rate", "5"], "--rate: surge-direct does not use it; it goes with"),
        (["predict", "--workload", "poisson"], "--workload: poisson needs --rate"),
        (["predict", "--workload", "poisson", "--rate", "0"], "--rate: 0.0 is outside 0.001 to"),
        (["predict", "--workload", "trace"], "--workload: trace needs --trace"),
        (["predict", "--trace", "missing.csv"], "--trace: missing.csv: No such file or directory"),
        (
            ["predict", "--workload", "poisson", "--on", "vm"],
            "--workload: poisson runs only on sim",
        ),
        (["predict", "--clock", "wall"], "--clock: only in the VM; add --on vm"),
        (["predict", "--scale", "2"], "--scale: only in the VM; add --on vm"),
        (["predict", "--controller", "null_blk"], "--controller: only in the VM; add --on vm"),
        (["predict", "--on", "vm", "--gap", "1"], "--gap-us: only in the simulator; add --on sim"),
        (
            ["predict", "--on", "sim,vm", "--queue-depth", "3"],
            "--queue-depth: 3: cheetah-15k4 takes up to 2 at a time",
        ),
        (
            ["predict", "--disk", "vesper-zoned", "--queue-depth", "2"],
            "--queue-depth: 2: vesper-zoned has no [queue]: it takes one at a time; write "
            "depth = 2 into the [queue] of its profile",
        ),
        (["predict", "--replay", "closed"], "--replay: surge-direct does not use it; it goes"),
        (["predict", "--virtual-size", "1000000"], "--virtual-size: 1000000 is not a whole number"),
        (["predict", "--dsk", "x"], "No such option"),
        (["pedict"], 'unknown command "pedict": did you mean "predict"? '),
    ],
)
def test_a_wrong_request_is_one_line_and_exit_code_2(words: list[str], message: str) -> None:
    done = understudy(*words)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"understudy: {message}")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.usefixtures("platform")
def test_a_full_out_folder_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    done = understudy(*SMALL, str(tmp_path))
    assert done.exit_code == 2
    assert "is not empty" in done.stderr


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("name", ["file/run", "x" * 300, "a/" + "x" * 300, "missing/../file/run"])
def test_a_folder_that_cannot_be_written_is_refused_before_any_work(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "file").write_text("")
    done = understudy(*SMALL, str(tmp_path / name))
    assert done.exit_code == 2
    assert "understudy: --out: cannot write " in done.stderr
    assert done.stderr.count("\n") == 2  # and the command
    assert [place.name for place in tmp_path.iterdir()] == ["file"]


def test_every_platform_is_checked_before_one_runs(
    platform: FakePlatform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(experiments: Sequence[Experiment]) -> None:
        if {run.scheduler.name for run in experiments} == {"fcfs", "bfq"}:
            raise UserError("--gap-us: only in the simulator")

    monkeypatch.setattr(platform, "check", check)
    words = ("--on", "sim,vm", "--schedulers", "fcfs,bfq", "--out", str(tmp_path / "run"))
    done = understudy("predict", *words)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_trace_that_is_too_much_for_the_disk_is_replayed_with_a_warning(tmp_path: Path) -> None:
    rows = "".join(f"{1000 * row},{8 * row},8,write\n" for row in range(101))
    (tmp_path / "t.csv").write_text("arrival_ns,sector,sectors,op\n" + rows)
    words = ("--workload", "trace", "--trace", str(tmp_path / "t.csv"), "--schedulers", "none")
    done = understudy("predict", *words, "--out", str(tmp_path / "run"))
    assert done.exit_code == 0
    assert "none, seed 1: overloaded: requests arrive 4,292." in done.stderr


def test_runs_that_begin_at_once_get_a_folder_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [
        sys.executable,
        "-m",
        "understudy_devices",
        "predict",
        "--requests",
        "20",
        "--workload",
    ]
    runs = [subprocess.Popen([*words, "random"], stdout=subprocess.DEVNULL) for _ in range(4)]
    assert [run.wait() for run in runs] == [0] * 4
    assert len(list((tmp_path / "runs").iterdir())) == 4


def test_a_failed_run_fails_its_scheduler_and_the_others_go_on(
    platform: FakePlatform, tmp_path: Path
) -> None:
    platform.broken = "bfq"
    done = understudy(*SMALL, str(tmp_path / "run"), "--jobs", "1", "--seeds", "2", "--json")
    assert done.exit_code == 1
    assert done.stderr.count("understudy: the guest of bfq panicked\n") == 1
    document = json.loads(done.stdout)
    assert document["inputs"]["schedulers"] == ["cats", "mq-deadline", "none"]
    assert [run["seed"] for run in document["runs"]] == [1, 2] * 3
    assert document["failed"] == {"bfq": "the guest of bfq panicked"}
    assert json.loads((tmp_path / "run" / "result.json").read_text()) == document


@pytest.mark.parametrize("command", ["predict", "compare", "sweep"])
def test_what_must_not_be_used_is_not_recommended_from(
    platform: FakePlatform, tmp_path: Path, command: str
) -> None:
    platform.early = True
    out = ("--on", "vm", "--requests", "50", "--out", str(tmp_path / "out"))
    done = understudy(command, "--schedulers", "cats,none", *out)
    assert done.exit_code == 1
    assert "no pick: requests were chosen while the disk was busy (" in done.stdout
    assert "for mean response" not in done.stdout
    assert "best" not in done.stdout


def test_records_that_break_a_promise_fail_the_run() -> None:
    class Early(FakePlatform):
        def run(self, experiment: Experiment, report: Report, *, stop: threading.Event) -> Outcome:
            good = super().run(experiment, report, stop=stop)
            wrong = good.requests.with_columns(due_ns=good.requests["completion_ns"] + 1)
            return Outcome(experiment, wrong, good.facts)

    outcomes, failures = parallel.run_all(Early(), [experiment()], 1, lambda *_: None)
    assert not outcomes
    assert "completed before it was due" in failures[experiment().scheduler.name]


def test_outcomes_come_in_the_order_of_the_experiments() -> None:
    runs = [experiment(scheduler=name, requests=20) for name in ("none", "cats", "bfq")]
    outcomes, _ = parallel.run_all(FakePlatform(), runs, 3, lambda *_: None)
    assert [run.experiment.scheduler.name for run in outcomes] == ["none", "cats", "bfq"]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("64MiB", 64 * 2**20),
        ("1.5GiB", 3 * 2**29),
        ("73.4G", 73_400_000_000 // 2**20 * 2**20),
        ("1gb", 10**9 // 2**20 * 2**20),
        ("2T", 2 * 10**12 // 2**20 * 2**20),
        ("1048576", 2**20),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert sizes.parse("--virtual-size", text, 0, 2**50) == size


@pytest.mark.parametrize("text", ["", "G", "-1G", "1.G", "1e9", "0x10", "1 GGB", "nan", "1iB"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(UserError):
        sizes.parse("--virtual-size", text, 0, 2**50)


def module(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "understudy_devices", *words],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_module_runs() -> None:
    assert module("--version").stdout.startswith("understudy ")
    done = module("--help")
    assert done.returncode == 0
    assert "predict" in done.stdout
    assert "reproduce" in done.stdout
    assert module().returncode == 2
    wrong = module("predict", "--disk", "cheetah-15k")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith('understudy: unknown disk "cheetah-15k": ')


def test_a_new_module_is_a_new_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "say_hello.py").write_text(
        "import click\n\n@click.command()\ndef command():\n    click.echo('hello')\n"
    )
    (tmp_path / "helper.py").write_text("command = 'not one'\n")
    monkeypatch.setattr("understudy_devices.cli.__path__", [*_folders(), str(tmp_path)])
    assert understudy("say-hello").stdout == "hello\n"
    assert understudy("helper").exit_code == 2


def _folders() -> list[str]:
    from understudy_devices import cli

    return list(cli.__path__)
