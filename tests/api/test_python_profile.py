# SPDX-License-Identifier: MIT
"""`profile` in Python: the same profile as the command, resumed, and accepted as a disk."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import understudy_devices as us
from understudy_devices.cli.main import main
from understudy_devices.device import profile
from understudy_devices.profiler.targets.model import ModelTarget

MODULE = """
from understudy_devices.device import profile
from understudy_devices.profiler.targets.model import ModelTarget

def make():
    return ModelTarget.of(profile.load("vesper-flat"), 2_929_688)
"""
METHOD = "perform-2010"


@pytest.fixture
def drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("understudy_test_drive.py").write_text(MODULE)
    return ModelTarget.of(profile.load("vesper-flat"), 2_929_688)


def test_the_command_does_the_same(drive: Any, tmp_path: Path) -> None:
    ours = us.profile("understudy_test_drive:make", method=METHOD, out="ours.toml")
    assert ours.command
    words = ours.command.replace("ours.toml", "theirs.toml").split()[1:]
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    assert Path("ours.toml").read_text() == Path("theirs.toml").read_text() == ours.to_toml()
    assert done.stdout == repr(ours).replace("\n".join(ours.notices), "").rstrip("\n") + "\n"
    assert not list(tmp_path.glob("*.partial"))


def test_an_object_is_measured_and_used(drive: Any, tmp_path: Path) -> None:
    fitted = us.profile(drive, method=METHOD)
    assert fitted.command is None
    assert fitted.to_toml() == us.profile("understudy_test_drive:make", method=METHOD).to_toml()
    options = {"workload": "random", "schedulers": "fcfs", "requests": 100}
    by_object = us.predict(disk=fitted, **options)
    by_file = us.predict(disk=fitted.write(tmp_path / "mine.toml"), **options)
    assert by_object.requests.equals(by_file.requests)
    html = fitted._repr_html_()
    assert all(word in html for word in ("<table>", "demerit", "<svg"))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "profile: name what to profile"),
        ({"target": "nothing:make"}, "--target: nothing:make: ModuleNotFoundError"),
        ({"target": "a:b", "trace": "c"}, "one of --device, --target and --trace"),
        ({"target": "a:b", "out": "x.txt"}, "a profile is a .toml file"),
        ({"target": "a:b", "out": "no/x.toml"}, "--out: no: no such folder"),
        ({"target": "a:b", "minutes": 0}, "--minutes: 0 is not a number above 0"),
        ({"target": "a:b", "seed": -1}, "--seed: -1 is outside 0 to"),
        ({"target": "a:b", "keep": "cheetah-15k4"}, "--keep: only with --trace"),
        ({"trace": "nothing.csv"}, "No such file"),
        ({"trace": "a.csv", "minutes": 3}, "--minutes, --as: nothing is measured with --trace"),
        ({"device": "/dev/no-such-disk"}, "/dev/no-such-disk"),
    ],
)
def test_wrong_values_are_refused_in_a_line(values: dict[str, Any], words: str) -> None:
    with pytest.raises(us.UserError) as refused:
        us.profile(**values)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
