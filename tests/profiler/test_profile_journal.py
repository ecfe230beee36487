# SPDX-License-Identifier: MIT
"""A profile that is interrupted continues later; a journal that does not fit is refused."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hosted import Hosted
from hypothesis import given
from hypothesis import strategies as st
from terminal import CTRL_C, INTERRUPTED, Home, Running
from test_profiler import CAPACITY, model

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.cli.main import main
from understudy_devices.device.target import Target
from understudy_devices.profiler.profile_fit import profile
from understudy_devices.profiler.targets import journal
from understudy_devices.profiler.targets.bench import Bench
from understudy_devices.profiler.targets.journal import Journal

pytestmark = pytest.mark.thorough

IDENTITY = {
    "target": "a drive",
    "capacity_sectors": CAPACITY,
    "seed": 1,
    "destroy_data": False,
    "minutes": None,
    "as_disk": True,
}
SLOW = """
import time
from pathlib import Path

class Slow:
    capacity_sectors = 20_000_000
    writable = True

    def request(self, op, sector, sectors, at_ns):
        if Path("slow").exists():
            time.sleep(0.001)
        with open("asked", "a") as log:
            log.write(op[0])
        return at_ns + 3_000_000 + sector * 7919 % 6_000_000

def make():
    return Slow()
"""


class Stateless:
    """A target whose service times depend on the request alone."""

    capacity_sectors = 10**6
    writable = True

    def __init__(self, stop_at: int = 10**9) -> None:
        self.asked = 0
        self.free_ns = 0
        self.stop_at = stop_at

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        self.asked += 1
        if self.asked > self.stop_at:
            raise KeyboardInterrupt
        assert at_ns >= self.free_ns
        self.free_ns = at_ns + 3_000_000 + sector * 7919 % 6_000_000
        return self.free_ns


@contextmanager
def journaled(target: Target, file: Path) -> Iterator[Journal]:
    with closing(
        Journal(target, file, {**IDENTITY, "capacity_sectors": target.capacity_sectors})
    ) as journal:
        yield journal


@pytest.mark.parametrize("stop_at", [1000, 3000, 7000])
def test_interrupted_it_comes_to_the_same_profile(stop_at: int, tmp_path: Path) -> None:
    file = tmp_path / "x.toml.partial"
    once = Stateless()
    whole = profile(once, as_disk=True)
    with journaled(Stateless(stop_at), file) as first, pytest.raises(KeyboardInterrupt):
        profile(first, as_disk=True)
    target = Stateless()
    with journaled(target, file) as again:
        assert 0 < again.told < stop_at
        assert profile(again, as_disk=True).to_toml() == whole.to_toml()
    assert target.asked == once.asked - again.told + journal.FORGET


def test_what_is_whole_needs_no_target(tmp_path: Path) -> None:
    """If the profile's file could not be written, the complete journal suffices to
    write it later.
    """
    file = tmp_path / "x.toml.partial"
    with journaled(model(), file) as first:
        whole = profile(first, destroy_data=True)
    nobody = Stateless(0)
    nobody.capacity_sectors = CAPACITY
    with journaled(nobody, file) as again:
        assert profile(again, destroy_data=True).to_toml() == whole.to_toml()
    assert nobody.asked == 0


def test_a_target_with_a_clock_of_its_own(tmp_path: Path) -> None:
    """The second target's clock starts at 0. The run's clock continues, and delays remain in it."""
    file = tmp_path / "x.toml.partial"
    with journaled(Hosted(Stateless()), file) as first:
        bench = Bench(first, 1)
        times = [bench.read(sector) for sector in range(50)]
        bench.milestone()
    then_ns = bench.now_ns
    with journaled(Hosted(Stateless(), seed=2), file) as again:
        bench = Bench(again, 1)
        assert [bench.read(sector) for sector in range(50)] == times
        assert bench.now_ns == then_ns
        bench.read(70)
    assert bench.sent_ns >= then_ns
    assert bench.now_ns - bench.sent_ns > 3_000_000


def test_another_run_is_at_work(tmp_path: Path) -> None:
    file = tmp_path / "x.toml.partial"
    message = "another profile is being written there"
    with journaled(Stateless(), file) as first, journaled(Stateless(), file) as second:
        first.request("read", 0, 1, 0)
        first.milestone()
        with pytest.raises(UserError, match=message), journaled(Stateless(), file):
            pass
        second.request("read", 0, 1, 0)
        with pytest.raises(UserError, match=message):
            second.milestone()
        second.done()
        assert file.exists()
        first.done()
    assert not file.exists()


def test_a_journal_that_can_not_be_written(tmp_path: Path) -> None:
    with journaled(Stateless(), tmp_path / "absent" / "x.toml.partial") as target:
        target.request("read", 0, 1, 0)
        with pytest.raises(RunFailed, match=r"cannot write .*x.toml.partial: No such file"):
            target.milestone()


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """Return a journal with two milestones."""
    file = tmp_path / "x.toml.partial"
    with journaled(Stateless(), file) as target:
        for sector in (1, 2):
            target.request("read", sector, 1, sector * 10**8)
            target.milestone()
    return file


def test_a_last_line_that_was_cut_off_is_asked_again(begun: Path) -> None:
    text = begun.read_text()
    lines = text.splitlines(keepends=True)
    for length in range(len(text)):
        begun.write_text(text[:length])
        whole = sum(len("".join(lines[: n + 1])) <= length for n in (1, 2))
        with journaled(Stateless(), begun) as target:
            assert target.told == whole
        assert begun.read_text() == "".join(lines[: 1 + whole])


def refuse(file: Path) -> None:
    with journaled(Stateless(), file):
        raise AssertionError("it was taken")


DAMAGES: dict[str, tuple[Callable[[list[str]], list[str]], str]] = {
    "a line": (lambda lines: [lines[0], "[[1, 2", lines[2]], "line 2 is damaged"),
    "numbers": (lambda lines: [lines[0], lines[1].replace("1,", "1.5,")], "line 2 is damaged"),
    "another op": (lambda lines: [lines[0], lines[1].replace("read", "trim")], "line 2 is damaged"),
    "too few": (lambda lines: [lines[0], '[["read", 1]]'], "line 2 is damaged"),
    "no header": (lambda lines: lines[1:], "is no journal of a profile"),
    "something else": (lambda lines: ["a shopping list"], "is no journal of a profile"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_journal(name: str, begun: Path) -> None:
    damage, message = DAMAGES[name]
    text = "".join(f"{line}\n" for line in damage(begun.read_text().splitlines()))
    begun.write_text(text)
    with pytest.raises(UserError, match=rf"x\.toml\.partial: {message}; delete it to begin"):
        refuse(begun)
    assert begun.read_text() == text


@pytest.mark.parametrize("text", ["milk, eggs", "\n\n", "{}\n", "[]\n", "null\n", "\ud800"])
def test_a_file_that_is_no_journal_stays(text: str, tmp_path: Path) -> None:
    file = tmp_path / "x.toml.partial"
    file.write_bytes(text.encode(errors="surrogatepass"))
    with pytest.raises(UserError, match="is no journal of a profile; delete it"):
        refuse(file)
    assert file.read_bytes() == text.encode(errors="surrogatepass")


@pytest.mark.parametrize(
    ("key", "value"),
    [("target", "another"), ("capacity_sectors", 5), ("seed", 2), ("destroy_data", True)],
)
def test_the_journal_of_another_run(key: str, value: object, begun: Path) -> None:
    identity = {**IDENTITY, "capacity_sectors": Stateless.capacity_sectors}
    with pytest.raises(UserError, match=rf"is of {key} {identity[key]}, not {value}; delete it"):
        Journal(Stateless(), begun, {**identity, key: value})


def test_the_journal_of_another_version(begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "_version", lambda: "another")
    with pytest.raises(UserError, match=r"is of version \w+, not another; delete it"):
        refuse(begun)


def test_the_journal_of_other_questions(begun: Path) -> None:
    with (
        journaled(Stateless(), begun) as target,
        pytest.raises(UserError, match="does not fit what is asked now; delete it"),
    ):
        target.request("read", 5, 1, 10**8)


@given(st.lists(st.text() | st.sampled_from(['[["read", 1, 1, 1, 1, 1]]', "[[]]", "{}"])))
def test_any_lines(lines: list[str]) -> None:
    """The journal is refused, or read up to its last complete line."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        file = Path(folder) / "x.toml.partial"
        identity = {**IDENTITY, "capacity_sectors": Stateless.capacity_sectors}
        header = json.dumps({**identity, "version": journal._version()})
        file.write_bytes("\n".join([header, *lines]).encode(errors="replace"))
        with suppress(UserError), journaled(Stateless(), file) as target:
            assert target.told == "\n".join(lines).rpartition("\n")[0].count("read")


# ---- the command ----------------------------------------------------------------------


def command(folder: Path, *words: str) -> Result:
    words = ("profile", "--target", "slow:make", "--out", "x.toml", "--as", "disk", *words)
    return CliRunner().invoke(main, list(words), catch_exceptions=False)


def test_an_interrupted_command_says_how_to_go_on(tmp_path: Path) -> None:
    home = Home(tmp_path).with_what_is_made()
    (home.work / "slow.py").write_text(SLOW)
    (home.work / "slow").touch()
    words = ("profile", "--target", "slow:make", "--out", "x.toml", "--as", "disk")
    running = Running(home, *words)
    partial = home.work / "x.toml.partial"
    while not (partial.exists() and partial.read_text().count("\n") > 2):
        running.pass_time(0.02)
        assert not running.ended, running.said
    running.press(CTRL_C)
    assert running.end() == 130
    assert running.lines()[-1] == (
        f"{INTERRUPTED}the measurements so far are in x.toml.partial; give the same command again "
        "to go on"
    )
    assert not (home.work / "x.toml").exists()
    answers = sum(len(json.loads(line)) for line in partial.read_text().splitlines()[1:])
    (home.work / "asked").unlink()
    (home.work / "slow").unlink()
    again = Running(home, *words)
    assert again.end() == 0
    assert f"{answers:,} requests were answered before; resuming from there" in again.said
    assert not partial.exists()
    first = (home.work / "x.toml").read_text()
    asked_again = len((home.work / "asked").read_text())
    (home.work / "asked").unlink()
    assert Running(home, *words).end() == 0
    assert (home.work / "x.toml").read_text() == first
    assert len((home.work / "asked").read_text()) == answers + asked_again - journal.FORGET


def test_an_interrupted_device_goes_on(tmp_path: Path) -> None:
    home = Home(tmp_path).with_what_is_made()
    with (home.work / "image").open("wb") as image:
        image.truncate(160 * 2**20)
    words = ("profile", "--device", "image", "--out", "x.toml", "--as", "disk")
    running = Running(home, *words)
    running.wait_for("seeks")
    running.press(CTRL_C)
    assert running.end() == 130
    assert (home.work / "x.toml.partial").exists()
    again = Running(home, *words)
    assert again.end() == 0
    assert "requests were answered before; resuming from there" in again.said
    assert {path.name for path in home.left_overs()} == {"image", "x.toml"}


def test_a_target_whose_code_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    partial = tmp_path / "x.toml.partial"
    (tmp_path / "slow.py").write_text(SLOW)
    named = {"target": "slow:make", "code": "other", "method": "full"}
    document = {**named, "capacity_sectors": 20_000_000}
    identity = {**document, "seed": 1, "destroy_data": False, "minutes": None, "as_disk": True}
    with closing(Journal(Stateless(), partial, identity)) as target:
        target.request("read", 1, 1, 0)
        target.milestone()
    done = command(tmp_path)
    assert done.exit_code == 2
    assert "x.toml.partial: is of code other, not " in done.stderr
    assert done.stderr.count("\n") == 1
