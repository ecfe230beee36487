# SPDX-License-Identifier: MIT
"""The catalogue of disks: the list, the facts of one disk, and its picture."""

import json
from pathlib import Path

import matplotlib as mpl
import pytest
from click.testing import CliRunner, Result

from understudy_devices.cli.disks import command
from understudy_devices.device import profile

pytestmark = pytest.mark.thorough

DISKS = list(profile.catalogue())


def disks(*words: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(command, words)


def test_all_of_them_with_what_matters() -> None:
    output = disks().output
    for name in DISKS:
        assert f" {name} " in output
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in output.splitlines() if line}
    assert lines["cheetah-15k4"] == "73.4 GB 15,000 6 line 64"
    assert lines["cheetah-9lp"] == "9.1 GB 10,045 9.61 curve 3 timed, write-back"
    assert lines["constellation-2"] == "1.0 TB 7,200 11.9 sheet"
    assert lines["array-32"] == "10 array 32 servers"
    assert list(lines)[2:-1] == sorted(DISKS), "one table"
    assert output.endswith(
        "page: a random read of 4 KiB, on average; more: understudy disks show NAME\n"
    )
    assert max(map(len, output.splitlines())) <= 80


def test_as_json_they_are_whole_profiles() -> None:
    documents = json.loads(disks("--json").output)
    assert [document["name"] for document in documents] == DISKS
    cheetah = documents[DISKS.index("cheetah-15k4")]
    assert cheetah["model"]["intercept_ms"] == 4.25
    assert "buffer" not in cheetah


@pytest.mark.parametrize("name", DISKS)
def test_one_says_where_its_figures_are_from(name: str) -> None:
    output = disks("show", name).output
    disk = profile.load(name)
    assert output.startswith(f"{name}: {disk.summary}\n")
    assert "source" in output
    assert not disk.limits or disk.limits in output


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "constellation-2",
            "kind sheet, 7,200 rpm\npage 11.9 ms for a random read of 4 KiB from the "
            "medium\nseek 17.3 ms at most\nmedium 119.4 to 61.6 MB/s\nsegments no cache\n"
            "made from the figures of its manual: single reads from the medium\n"
            "checks never checked\n",
        ),
        ("atlas-10k", "medium 28.57 to 19.59 MB/s in 13 zones\nsegments 9 timed, write-back\n"),
        ("travelstar-5k320", "medium transfer takes no time\n"),
        ("cheetah-9lp", "checks within the limits in 2 of 4 checks\n"),
        ("detailed-10k", "queue at most 32 commands; --queue-depth says how many are used\n"),
        ("ssd-s4600", "size 960.2 GB\nkind array\npage 0.11 ms for a random read of"),
        (
            "ssd-s4600",
            "from the medium\ninside 8 servers\nmade from random reads of 4 KiB",
        ),
    ],
)
def test_one_says_what_it_does_and_how_far_to_believe_it(name: str, expected: str) -> None:
    output = disks("show", name).output
    assert expected in "\n".join(" ".join(line.split()) for line in output.splitlines())


ZONES = """\
first_sector,track_sectors,slots,angle_turns,skew_turns
0,100,100,0,0.2
500000,90,96,0.5,0.2
"""
SLIPS = "sector,slots\n9,1\n"


def written(folder: Path, *, period: str, phase: str, throughput: bool = True) -> str:
    """Write a profile with two zones and known sector positions."""
    rate = "[throughput]\nmb_per_s = [8.5, 8.0]\n" if throughput else ""
    file = folder / "mine.toml"
    file.write_text(
        f'summary = "ours"\n[seek]\nms = [1, 9]\n{rate}[rotation]\nperiod_ms = {period}\n'
        f'phase = "{phase}"\n[layout]\nzones = """\n{ZONES}"""\nslips = """\n{SLIPS}"""\n'
        '[facts]\nvendor = "x"\nmodel = "y"\ncapacity_sectors = 1_000_000\n'
    )
    return str(file)


@pytest.mark.parametrize(
    ("phase", "expected"),
    [
        ("known", "positions known for each sector in 2 zones and 1 slips: no latency is drawn\n"),
        ("random", 'positions known, but not used: rotation.phase is not "known"\n'),
    ],
)
def test_one_says_whether_positions_are_known(phase: str, expected: str, tmp_path: Path) -> None:
    output = disks("show", written(tmp_path, period="6.0", phase=phase)).output
    assert expected in "\n".join(" ".join(line.split()) for line in output.splitlines()) + "\n"
    assert "positions" not in disks("show", "atlas-10k").output


def test_known_positions_are_drawn_as_such(tmp_path: Path) -> None:
    """The text below the picture says so, and the rates are calculated from the slots."""
    pictures = []
    for phase in ("known", "random"):
        out = tmp_path / f"{phase}.svg"
        name = written(tmp_path, period="6.0", phase=phase, throughput=False)
        assert disks("show", name, "--out", str(out)).exit_code == 0
        pictures.append(out.read_text())
    words = ("rotational positions are known", "transfer takes no time of its own")
    assert [word in pictures[0] for word in words] == [True, False]
    assert [word in pictures[1] for word in words] == [False, True]


@pytest.mark.parametrize("name", ["cheetah-15k4", "cheetah-9lp", "vesper-zoned", "ssd-s4600"])
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_one_is_drawn(name: str, ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"disk.{ending}"
    assert disks("show", name, "--out", str(file)).exit_code == 0
    beginning = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert file.read_bytes().startswith(beginning[ending])
    assert file.stat().st_size > 5_000


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_picture_is_the_same_to_the_byte(ending: str, tmp_path: Path) -> None:
    """The picture depends neither on the date nor on the user's matplotlibrc."""
    first, again = (tmp_path / f"{name}.{ending}" for name in ("first", "again"))
    assert disks("show", "cheetah-9lp", "--out", str(first)).exit_code == 0
    with mpl.rc_context({"lines.linewidth": 9, "svg.hashsalt": None, "font.size": 20}):
        assert disks("show", "cheetah-9lp", "--out", str(again)).exit_code == 0
    assert first.read_bytes() == again.read_bytes()
    assert b"CreationDate" not in first.read_bytes()
    assert b"<dc:date>" not in first.read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("show", "cheeta"), 'unknown disk "cheeta": did you mean'),
        (("show", "vesper-flat", "--out", "x.gif"), "x.gif: a picture's name ends in .png, .svg"),
        (("show", "vesper-flat", "--out", "no/x.png"), "no/x.png: no: no such folder"),
    ],
)
def test_what_can_not_be_shown(words: tuple[str, ...], message: str) -> None:
    assert message in str(disks(*words).exception)
