# SPDX-License-Identifier: MIT
"""The copier with its registers in I/O ports: its reference driver, unchanged, and a driver whose
own code has the instructions for ports, also those for strings.

That the kernel's 8250 driver works so is in test_uart16550.py.
"""

import shutil
from pathlib import Path

import pytest
from guests import group
from rude_drivers import EXERCISE, REFERENCE

from understudy_devices.base.paths import cards_dir
from understudy_devices.cards.journal import What
from understudy_devices.referee import run

pytestmark = group("referee")
INLINED = """
#undef ioread32
#undef iowrite32
#define PORT(at) ((u16)(unsigned long)(at))
#define ioread32(at) ({ u32 read_; insl(PORT(at), &read_, 1); read_; })
#define iowrite32(value, at) outl(value, PORT(at))
"""


@pytest.fixture
def card(tmp_path: Path) -> Path:
    """The specification of a copier with 64 ports, with its behaviour beside it."""
    text = (cards_dir() / "copier.yaml").read_text()
    for old, new in (("bytes: 4096", "bytes: 64"), ("kind: memory32", "kind: io")):
        assert text.count(old) == 1
        text = text.replace(old, new)
    shutil.copy(cards_dir() / "copier.c", tmp_path)
    path = tmp_path / "copier.yaml"
    path.write_text(text)
    return path


def inlined() -> str:
    """Return the reference driver, which accesses the ports by IN, INS and OUT in its own code."""
    head, include, rest = REFERENCE.read_text().rpartition("#include")
    line, end, code = rest.partition("\n")
    return head + include + line + end + INLINED + code


def outcome(card: Path, text: str, cpus: int) -> run.Outcome:
    """Run the driver."""
    driver, exercise = card.with_name("mine.c"), card.with_name("exercise")
    driver.write_text(text)
    exercise.write_text(EXERCISE)
    return run.run(run.prepared(str(card), driver, exercise), run.Setting(cpus, 1))


@pytest.mark.parametrize("cpus", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "text",
    [inlined(), pytest.param(REFERENCE.read_text(), marks=pytest.mark.slow)],
    ids=["in", "io"],
)
def test_a_driver_works(card: Path, text: str, cpus: int) -> None:
    """Each access is in the journal."""
    found = outcome(card, text, cpus)
    assert found.findings == ()
    what = found.accesses["what"]
    assert (what == What.LOAD).sum() > 20
    assert (what == What.STORE).sum() > 20


@pytest.mark.slow
def test_ports_that_are_off(card: Path) -> None:
    text = inlined().replace("int ret = pcim_enable_device(pdev);", "int ret = 0;")
    rules = {finding.rule for finding in outcome(card, text, 1).findings}
    assert "memory decoding off" in rules
