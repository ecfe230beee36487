# SPDX-License-Identifier: MIT
"""The command on a machine that is full, locked down or unusual: one line of error, an exit code,
never a traceback.

Each test mounts its own small file systems in a private mount namespace.
"""

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import checkouts
import pytest
from places import CHECKOUT
from terminal import COMMAND

from understudy_devices.base import run_folder
from understudy_devices.base.errors import RunFailed
from understudy_devices.cli import main
from understudy_devices.consolidation import vm
from understudy_devices.platforms.vm import trouble

pytestmark = pytest.mark.thorough

RUN = (
    *("predict", "--workload", "random", "--requests", "200", "--virtual-size", "64MiB"),
    *("--schedulers", "fcfs,look"),
)
WITH_FILES = ("predict", "--requests", "200", "--virtual-size", "64MiB", "--schedulers", "fcfs")
SMALL = "mount -t tmpfs -o size=64k none"
READ_ONLY = "mount --bind -o ro"
PLAIN = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--")  # permissions count for root


class Done:
    """The exit code and the output of a command."""

    def __init__(self, process: "subprocess.CompletedProcess[str]") -> None:
        self.code = process.returncode
        self.out = process.stdout
        self.last = process.stderr.rstrip().rpartition("\n")[2]
        assert "Traceback" not in process.stderr, process.stderr
        lines = [line for line in process.stderr.splitlines() if line.startswith("understudy: ")]
        assert len(set(lines)) <= 1, process.stderr


def understudy(
    folder: Path,
    *words: str,
    mounted: str = "true",
    before: Sequence[str] = (),
    without: Sequence[str] = (),
    stdout: int = subprocess.PIPE,
    encoding: str = "utf-8",
    extra: Mapping[str, str] | None = None,
) -> Done:
    """Run the command in `folder`, after the shell line `mounted`, in a private mount namespace."""
    environment = {k: v for k, v in {**os.environ, **(extra or {})}.items() if k not in without}
    apart = ["unshare", "--mount", *(() if os.geteuid() == 0 else ("--map-root-user",))]
    shell = [*apart, "sh", "-c", f'{mounted} && exec "$@"', "sh"]
    return Done(
        subprocess.run(
            [*shell, *before, str(COMMAND), *words],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            encoding=encoding,
            check=False,
        )
    )


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return an empty folder to mount a file system on."""
    folder = tmp_path / "place"
    folder.mkdir()
    return folder


def test_the_disk_for_the_results_is_full(tmp_path: Path, place: Path) -> None:
    done = understudy(tmp_path, *RUN, "--out", "place/run", mounted=f"{SMALL} {place}")
    assert done.code == 1
    assert done.last == f"understudy: cannot write {place}: No space left on device"


def test_a_sweeps_disk_is_full(tmp_path: Path, place: Path) -> None:
    """The disk has no room even for the journal, but the table is still printed."""
    fill = f"{SMALL} {place} && (head -c 64k /dev/zero > {place}/fill || true) 2> /dev/null"
    words = ("sweep", "--workloads", "random", "--requests", "200", "--schedulers", "fcfs")
    done = understudy(tmp_path, *words, "--out", "place/sweep.parquet", mounted=fill)
    assert done.code == 1
    assert done.last == "understudy: cannot write place/sweep.parquet: No space left on device"
    assert "cheetah-15k4" in done.out


@pytest.mark.parametrize("output", [(), ("--json",)])
def test_the_table_is_said_though_it_cannot_be_written(
    output: Sequence[str], tmp_path: Path, place: Path
) -> None:
    """The disk fills up while Polars writes the requests."""
    words = (*RUN, "--requests", "5000", "--out", "place/run", *output)
    done = understudy(tmp_path, *words, mounted=f"{SMALL} {place}")
    assert done.code == 1
    assert done.last == f"understudy: cannot write {place}: No space left on device"
    assert ('"p99_response_ms"' if output else "for mean response pick") in done.out


def test_a_sweeps_table_is_said_though_it_cannot_be_written(tmp_path: Path, place: Path) -> None:
    """The disk has room for the sweep's journal only."""
    words = ("sweep", "--workloads", "random", "--requests", "200", "--schedulers", "fcfs")
    mounted = f"mount -t tmpfs -o size=16k none {place}"
    done = understudy(tmp_path, *words, "--out", "place/sweep.parquet", mounted=mounted)
    assert done.code == 1
    assert done.last == "understudy: cannot write place/sweep.parquet: No space left on device"
    assert "cheetah-15k4" in done.out


@pytest.mark.parametrize("command", [RUN, ("sweep", "--workloads", "random", "--requests", "200")])
def test_names_that_are_not_utf_8(command: Sequence[str], tmp_path: Path) -> None:
    disk = Path(os.fsdecode(b"disk\xff.toml"))
    (tmp_path / disk).write_text("[model]\nintercept_ms = 1.0\nfull_seek_ms = 3.0\n")
    option = "--disks" if command[0] == "sweep" else "--disk"
    out = tmp_path / os.fsdecode(b"out\xff")
    done = understudy(tmp_path, *command, option, str(disk), "--out", out.name)
    assert (done.code, out.exists()) == (0, True)
    if out.is_dir():
        assert json.loads((out / "result.json").read_text())["inputs"]["disk"]["name"] == "disk?"


@pytest.mark.parametrize("command", [RUN, ("sweep",)])
@pytest.mark.parametrize("out", ["", ".", "/"])
def test_out_that_names_nothing(command: Sequence[str], out: str, tmp_path: Path) -> None:
    done = understudy(tmp_path, *command, "--out", out)
    assert done.code == 2
    assert done.last.startswith("understudy: --out: ")


def test_a_folder_that_was_filled_meanwhile(tmp_path: Path) -> None:
    with pytest.raises(RunFailed) as failure, run_folder.filled(tmp_path / "run"):
        (tmp_path / "run" / "theirs").mkdir(parents=True)
    assert str(failure.value).startswith(f"cannot write {tmp_path}/run: Directory not empty")


@pytest.mark.parametrize("summary", ["\\u001b]0;owned\\u0007", "\\u009b2J", "\\u202e"])
def test_a_disks_text_does_not_steer_the_terminal(summary: str, tmp_path: Path) -> None:
    line = "[model]\nintercept_ms = 1.0\nfull_seek_ms = 3.0\n"
    facts = f'[facts]\nvendor = "{summary}"\nmodel = "m"\ncapacity_sectors = 1000000\n'
    (tmp_path / "disk.toml").write_text(f'summary = "{summary}"\n{line}{facts}')
    done = understudy(tmp_path, "disks", "show", "disk.toml")
    assert done.code == 0
    assert "?" in done.out
    assert not set("\x1b\x07\x9b\u202e") & set(done.out)


def test_a_traces_name_does_not_steer_the_terminal() -> None:
    assert [*vm.named(["/nowhere/a\x1b]0;owned\x07.csv"])] == ["a?]0;owned?"]


def test_last_words_of_a_guest_do_not_steer_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Control characters in other error output are escaped as well."""
    words = trouble.last_words("\x1b[2Jpanic\r\n\x9bm")
    main._complain(f"the VM did not boot; its last words:\n{words}", 1)
    assert capsys.readouterr().err.splitlines()[1:] == ["  | ?[2Jpanic", "  | ?m"]


def test_a_file_name_does_not_steer_the_terminal(tmp_path: Path) -> None:
    done = understudy(tmp_path, "predict", "--disk", "\x1b]0;owned\x07.toml")
    assert done.code == 2
    assert done.last.startswith("understudy: ?]0;owned?.toml: No such file")


@pytest.mark.parametrize("mount", [SMALL, "full"])
def test_the_cache_is_full(mount: str, tmp_path: Path, place: Path) -> None:
    """The cache's disk is full from the start, or fills up during the build."""
    mounted = f"{SMALL} {place}"
    if mount == "full":
        mounted += f" && (head -c 64k /dev/zero > {place}/fill || true) 2> /dev/null"
    done = understudy(
        tmp_path, *WITH_FILES, "--out", "run", mounted=mounted, extra={"XDG_CACHE_HOME": str(place)}
    )
    assert done.code == 1
    assert done.last.startswith("understudy: ")
    assert not (tmp_path / "run").exists()


def test_the_temporary_folder_is_full(tmp_path: Path, place: Path) -> None:
    """There is no room for the VM's initramfs."""
    words = (*RUN[:-2], "--schedulers", "none", "--on", "vm", "--out", "run")
    done = understudy(tmp_path, *words, mounted=f"{SMALL} {place}", extra={"TMPDIR": str(place)})
    assert done.code == 1
    assert done.last.startswith(f"understudy: cannot write {place}/")
    assert done.last.endswith(": No space left on device")


def test_a_read_only_cache(tmp_path: Path, place: Path) -> None:
    mounted = f"{READ_ONLY} {place} {place}"
    cache = {"XDG_CACHE_HOME": str(place)}
    done = understudy(tmp_path, *RUN, "--out", "run", mounted=mounted, extra=cache)
    assert done.code == 1
    assert "set XDG_CACHE_HOME to another folder" in done.last
    assert not (tmp_path / "run").exists()


def test_somebody_elses_cache(tmp_path: Path, place: Path) -> None:
    place.chmod(0o500)
    words = (*WITH_FILES, "--out", "run")
    done = understudy(tmp_path, *words, before=PLAIN, extra={"XDG_CACHE_HOME": str(place)})
    assert done.code == 1
    assert "Permission denied" in done.last
    assert "set XDG_CACHE_HOME to another folder" in done.last


def test_no_home(tmp_path: Path) -> None:
    """Without HOME, the user's folder comes from the password database."""
    done = understudy(tmp_path, *RUN, "--out", "run", without=("HOME", "XDG_CACHE_HOME"))
    assert done.code == 0


@pytest.mark.parametrize(
    "words", [(*RUN, "--out", "run"), (*RUN, "--out", "run", "--json"), ("order", "--help")]
)
def test_output_that_is_full(words: Sequence[str], tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = understudy(tmp_path, *words, stdout=full.fileno())
    assert done.code == 1
    assert done.last == "understudy: standard output: No space left on device"


@pytest.mark.parametrize("words", [(*RUN, "--out", "run"), (*RUN, "--out", "run", "--json")])
def test_nobody_reads_the_output(words: Sequence[str], tmp_path: Path) -> None:
    """The reader of the pipe has exited, as in `| head -1`."""
    read, write = os.pipe()
    os.close(read)
    done = understudy(tmp_path, *words, stdout=write)
    os.close(write)
    assert done.code == 1
    assert not done.last.startswith("understudy: ")


@pytest.mark.parametrize("stream", ["1", "2"])
def test_a_stream_that_is_closed(stream: str, tmp_path: Path) -> None:
    done = understudy(tmp_path, *RUN, "--out", "run", mounted=f"exec {stream}>&-")
    assert done.code == 0
    assert (tmp_path / "run" / "result.json").exists()


@pytest.mark.parametrize(
    ("encoding", "columns", "spelled"),
    [("ascii", "20", "+-"), ("latin-1", "500", "±"), ("utf-8", "1", "±")],
)
def test_any_terminal(encoding: str, columns: str, spelled: str, tmp_path: Path) -> None:
    """Characters that the terminal cannot show are replaced by others."""
    words = ("compare", *RUN[1:], "--seeds", "3", "--out", "run")
    terminal = {"LC_ALL": "C", "PYTHONIOENCODING": encoding, "COLUMNS": columns}
    done = understudy(tmp_path, *words, encoding=encoding, extra=terminal)
    assert done.code == 0
    assert spelled in done.out


def test_json_is_for_any_terminal(tmp_path: Path) -> None:
    done = understudy(tmp_path, *RUN, "--json", "--out", "run", extra={"PYTHONIOENCODING": "ascii"})
    assert json.loads(done.out) == json.loads((tmp_path / "run" / "result.json").read_text())


def test_a_syntax_error_in_the_core(tmp_path: Path) -> None:
    """The error shows the compiler's message, with file and line."""
    copy = checkouts.copy(tmp_path / "copy")
    disk = copy / "core" / "drive" / "disk.c"
    lines = disk.read_text().count("\n")
    with disk.open("a") as text:
        text.write("int broken(void) { return nothing; }\n")
    done = subprocess.run(
        [copy / "scripts" / "understudy", "--version"],
        env=checkouts.built_by_itself(copy),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    error = done.stderr.splitlines()
    assert error[0] == "understudy: the core does not compile:"
    assert error[1].startswith(f"core/drive/disk.c:{lines + 1}:27: error: ")
    assert "Traceback" not in done.stderr


def test_a_cards_text_does_not_steer_the_terminal(tmp_path: Path) -> None:
    ours = (CHECKOUT / "cards" / "zach1.yaml").read_text()
    title = re.sub("^title: .*", r'title: "a\\e]0;owned\\a"', ours, count=1, flags=re.MULTILINE)
    (tmp_path / "card.yaml").write_text(title)
    done = understudy(tmp_path, "card", "show", "card.yaml")
    assert done.code == 2
    assert done.last.endswith("U+001B (a control character) can't be seen: leave it out")
    (tmp_path / "wrong.yaml").write_text('"a\\e]0;owned\\a": 1\n')
    wrong = understudy(tmp_path, "card", "check", "wrong.yaml")
    assert wrong.code == 2
    assert "\x1b" not in wrong.last
