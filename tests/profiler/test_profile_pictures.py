# SPDX-License-Identifier: MIT
"""What `understudy profile --picture` draws: all measurements, legible, the same in each run."""

import subprocess
import sys
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import pytest
from click.testing import CliRunner, Result
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from places import CHECKOUT

from oracle.detailed.drive import random_drive
from understudy_devices.base.errors import UserError
from understudy_devices.cli.main import main
from understudy_devices.device import profile as device
from understudy_devices.profiler.checks import SEEK, TRANSFER
from understudy_devices.profiler.profile_fit import Fitted, profile
from understudy_devices.profiler.targets.model import ModelTarget
from understudy_devices.show import picture, profiled

# One worker runs all of these tests, since each overview is drawn for several tests.
pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("pictures")]

MODULE = """
from oracle.detailed.drive import random_drive

class Untouched:
    capacity_sectors = 10**6
    writable = True
    def request(self, op, sector, sectors, at_ns):
        raise AssertionError("asked")

def drive(): return random_drive(2)
def untouched(): return Untouched()
"""


class Flash:
    """A device whose answers show neither rotation nor seeks."""

    capacity_sectors = 2**20
    writable = True

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        return at_ns + 60_000 + sector % 1000


def model(name: str) -> ModelTarget:
    disk = device.load(name)
    assert disk.facts
    return ModelTarget.of(disk, disk.facts.capacity_sectors, seed=5)


OVERVIEWS = {
    "detailed, read": lambda: profile(random_drive(1)),
    "detailed, written": lambda: profile(random_drive(201), destroy_data=True),
    "a model of a drive": lambda: profile(model("cheetah-9lp")),
    "a line": lambda: profile(model("cheetah-15k4")),
    "no cache": lambda: profile(model("vesper-flat")),
    "no disk": lambda: profile(Flash(), destroy_data=True, as_disk=True),
}
PAPERS = {
    "the line of a drive": lambda: profile(random_drive(2), method="perform-2010"),
    "the line of a line": lambda: profile(model("cheetah-15k4"), method="perform-2010"),
    "the curves of a drive": lambda: profile(random_drive(8), method="sigcse-2006"),
    "the curves of no disk": lambda: profile(Flash(), method="sigcse-2006", as_disk=True),
}


@dataclass(frozen=True)
class Drawn:
    """A profile, its figure, and the position of each text in the figure."""

    found: Fitted
    figure: Figure
    words: dict[Text, Bbox]


def drawn(fitted: Fitted) -> Drawn:
    """Draw the profile's figure without writing it to a file."""
    figures: list[Figure] = []
    words: dict[Text, Bbox] = {}
    draw = Text.draw

    def keep(figure: Figure, file: Path) -> None:
        figure.set_dpi(picture.DPI)
        picture.settle(figure)
        words.clear()
        figure.draw_without_rendering()
        figures.append(figure)

    def noted(text: Text, renderer: Any, *more: Any, **named: Any) -> None:
        if text.get_visible() and text.get_text().strip():
            words[text] = text.get_window_extent(renderer)
        draw(text, renderer, *more, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(picture, "save", keep)
        patch.setattr(Text, "draw", noted)
        profiled.draw(fitted, "mine", Path("mine.png"))
    return Drawn(fitted, figures[0], words)


@pytest.fixture(scope="module", params=OVERVIEWS)
def overview(request: pytest.FixtureRequest) -> Drawn:
    """Return the overview of one target."""
    return drawn(OVERVIEWS[request.param]())


def said(part: Figure | Axes) -> str:
    """Return all text in this part of the figure."""
    texts = part.findobj(Text)
    return "\n".join(each.get_text() for each in texts if isinstance(each, Text))


def test_an_overview_is_legible(overview: Drawn) -> None:
    is_legible(overview)


@pytest.mark.parametrize("name", PAPERS)
def test_the_papers_figures_are_legible(name: str) -> None:
    is_legible(drawn(PAPERS[name]()))


def is_legible(drawing: Drawn) -> None:
    """Check that nothing is cut off and that no words overlap."""
    assert len(drawing.words) > 15
    whole = drawing.figure.bbox.padded(1)
    for text, box in drawing.words.items():
        assert whole.contains(box.x0, box.y0), text
        assert whole.contains(box.x1, box.y1), text
    for (one, first), (other, second) in combinations(drawing.words.items(), 2):
        assert not first.padded(-1).overlaps(second.padded(-1)), (one, other)
    for axes in drawing.figure.axes:
        if legend := axes.get_legend():
            box = legend.get_window_extent().padded(-5)
            for line in axes.lines:
                drawn_as = line.get_path().transformed(line.get_transform())
                assert not drawn_as.intersects_bbox(box, filled=False), (axes, line)


def test_each_check_has_its_two_distributions_and_its_demerit(overview: Drawn) -> None:
    fitted, figure = overview.found, overview.figure
    panels = [axes for axes in figure.axes if axes.get_xlabel() == "service time (ms)"]
    for axes, check in zip(panels, fitted.checks, strict=True):
        within = "within" if check.within else "not within"
        demerit = f"demerit {check.demerit_percent:.1f} %: {within} the limits"
        assert axes.get_title(loc="left").splitlines()[::2] == [check.workload, demerit]
        target, model = (np.sort(values(line)[:, 0]) for line in axes.lines)
        assert np.sqrt(np.mean((target - model) ** 2)) == pytest.approx(check.demerit_ms, abs=1e-6)


def values(line: Line2D) -> npt.NDArray[np.float64]:
    """Return the points of the line."""
    return np.array(line.get_xydata(), float)


def test_all_samples_of_the_curve_are_drawn_with_what_is_left(overview: Drawn) -> None:
    fitted, figure = overview.found, overview.figure
    seen = fitted.finding("seek.ms")
    assert seen
    assert len(seen.seen) >= 36
    [above] = [axes for axes in figure.axes if axes.get_ylabel() == "seek (ms)"]
    [below] = [axes for axes in figure.axes if axes.get_ylabel() == "residual (ms)"]
    samples, curve = map(values, above.lines)
    assert samples == pytest.approx(np.array(seen.seen) * [100, 1])
    left = samples[:, 1] - np.interp(samples[:, 0], *curve.T)
    assert values(below.lines[0])[:, 1] == pytest.approx(left, abs=1e-9)
    assert max(abs(left)) < below.get_ylim()[1]


def test_what_was_not_seen_is_said(overview: Drawn) -> None:
    words = " ".join(said(overview.figure).split())
    for finding in overview.found.findings:
        if finding.value is None:
            assert finding.key.partition(".")[2] in words
            assert " ".join(finding.confidence.split()) in words
        elif finding.section == "buffer" and not isinstance(finding.value, (list, tuple)):
            assert str(finding.value).lower() in words


def test_the_line_is_drawn_as_in_perform_2010() -> None:
    """The figure shows filtered times by distance in sectors, and the line of the profile."""
    fitted = profile(model("cheetah-15k4"), method="perform-2010")
    [axes] = drawn(fitted).figure.axes
    filtered, line = map(values, axes.lines)
    assert len(filtered) > 99_000
    assert filtered[:, 0].max() == pytest.approx(143.4, abs=0.5)
    assert line[[0, -1], 1] == pytest.approx([4.25, 9.5], abs=0.02)
    assert "least squares: 4.25 + 5.25 d/D" in said(axes)
    assert "time (ms)" in said(axes)


def test_the_curves_are_drawn_as_in_sigcse_2006() -> None:
    """Each curve has 256 samples, seeks without half a rotation. Errors are named as in Table 1."""
    fitted = profile(random_drive(8), method="sigcse-2006")
    figure = drawn(fitted).figure
    seeks, rates = (values(axes.lines[0]) for axes in figure.axes)
    half_ms = fitted.value("rotation.period_ms") / 2
    assert seeks[:, 1] == pytest.approx(np.array(fitted.value("seek.ms")) - half_ms, abs=1e-6)
    assert rates[:, 1] == pytest.approx(fitted.value("throughput.mb_per_s"), abs=1e-4)
    assert len(seeks) == len(rates) == 256
    for check in fitted.checks:
        error = f"{check.workload} {check.difference_percent:+.1f} %"
        assert (error in said(figure)) == (check.workload in (SEEK, TRANSFER))


def test_a_method_without_a_figure_has_the_overview() -> None:
    """The overview has only what was found: here a line and a cache, but no samples of seeks."""
    fitted = profile(model("cheetah-15k4"), method="perform-2010")
    drawing = drawn(replace(fitted, method="somebodys-own"))
    is_legible(drawing)
    words = " ".join(said(drawing.figure).split())
    assert "intercept_ms 4.25" in words
    assert "prefetch_sectors 64" in words
    assert "residual (ms)" in words


def command(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> Result:
    (folder / "someones.py").write_text(MODULE)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    arguments = ["profile", "--target", "someones:drive", "--out", "mine.toml", *words]
    return CliRunner().invoke(main, arguments, catch_exceptions=False)


@pytest.mark.parametrize(
    "ending", ["png", *(pytest.param(ending, marks=pytest.mark.slow) for ending in ("svg", "pdf"))]
)
def test_the_same_seed_the_same_picture(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process with other hash seeds and another matplotlibrc draws the same picture."""
    (tmp_path / "someones.py").write_text(MODULE)
    (tmp_path / "matplotlibrc").write_text("lines.linewidth: 9\n")
    arguments = ["profile", "--target", "someones:drive", "--out", "mine.toml"]
    done = subprocess.run(
        [sys.executable, "-m", "understudy_devices", *arguments, "--picture", f"there.{ending}"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(CHECKOUT), "PYTHONHASHSEED": "7", "PATH": "/usr/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    here = command(tmp_path, monkeypatch, "--picture", f"here.{ending}")
    assert here.exit_code == 0
    assert f"wrote here.{ending}" in here.stderr
    first, again = (tmp_path / f"{name}.{ending}" for name in ("here", "there"))
    assert first.read_bytes() == again.read_bytes()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x.gif", "x.gif: a picture's name ends in .png, .svg, .pdf"),
        ("no/x.png", "no/x.png: no: no such folder"),
    ],
)
def test_a_wrong_name_is_told_before_anything_is_measured(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = command(tmp_path, monkeypatch, "--target", "someones:untouched", "--picture", name)
    assert (done.exit_code, done.stderr) == (2, f"understudy: {message}\n")
    assert {file.name for file in tmp_path.iterdir()} <= {"someones.py", "__pycache__"}


def test_a_picture_leaves_matplotlib_as_it_was(tmp_path: Path) -> None:
    with mpl.rc_context({"lines.linewidth": 7}):
        profiled.draw(profile(random_drive(2)), "mine", tmp_path / "mine.svg")
        assert mpl.rcParams["lines.linewidth"] == 7
        assert mpl.rcParams["svg.hashsalt"] is None
    with pytest.raises(UserError, match="a picture's name ends in"):
        profiled.draw(profile(random_drive(2)), "mine", tmp_path / "mine.jpg")
