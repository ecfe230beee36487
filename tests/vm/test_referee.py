# SPDX-License-Identifier: MIT
"""The referee, on drivers with known mistakes: each mistake is named, and the reference drivers
pass without findings (tests/broken_drivers.py).
"""

import json
import re
import shutil
from pathlib import Path

import pytest
from broken_drivers import MISTAKES, REFERENCE, RIGHT, edited
from click.testing import CliRunner
from guests import group
from rude_drivers import WRONG

from understudy_devices.base.errors import UserError
from understudy_devices.base.paths import cards_dir
from understudy_devices.cli.card import command
from understudy_devices.platforms.vm import card_modules, packages
from understudy_devices.referee import run

pytestmark = group("referee")
CARD = "zach1"
ONE = run.Setting(1, 1)
SOON = ("ring_wrap", "no_lock", "leak", "keeps_a_resource", "halts")
"""Mistakes that the quick tests include."""
SOON_RIGHT = ("cmpxchg8b", "threaded")
"""Correct drivers that the quick tests include."""
assert set(SOON) < set(MISTAKES)
assert set(SOON_RIGHT) < set(RIGHT)
on_other_ways = pytest.mark.parametrize(
    ("name", "cpus"),
    [
        pytest.param(name, cpus, marks=[pytest.mark.slow] * (cpus > 1 or name not in SOON_RIGHT))
        for name in RIGHT
        for cpus in (1, 2)
    ],
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the header that a driver includes."""
    header = REFERENCE.with_suffix(".h")
    (tmp_path / header.name).write_text(header.read_text())
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name not in SOON)) for name in MISTAKES],
)
def test_a_broken_driver_is_caught_by_name(name: str, folder: Path) -> None:
    """On one processor the run is repeatable."""
    source = folder / f"{name}.c"
    source.write_text(MISTAKES[name].source())
    outcome = run.run(run.prepared(CARD, source), ONE)
    rules = {finding.rule for finding in outcome.findings}
    # Either check may notice a loop first, depending on the guest's speed.
    assert rules & {MISTAKES[name].finding, *(["the kernel hangs"] if name == "loops" else [])}


def test_a_processor_that_hangs_beside_another_is_named(folder: Path) -> None:
    """The processor is named before the run's time is up, although the other one, which answers,
    works correctly.
    """
    source = folder / "beside.c"
    source.write_text(MISTAKES["loops_beside"].source())
    subject = run.prepared(CARD, source)
    (finding,) = run.run(subject, run.Setting(2, 1)).findings
    assert "in zach1_probe" in finding.text
    assert "did not end within" not in finding.text


@pytest.mark.parametrize("cpus", [1, 2, 4])
def test_the_reference_driver_passes(cpus: int) -> None:
    """All accesses are examined, and none is a finding."""
    outcome = run.run(run.prepared(CARD, REFERENCE), run.Setting(cpus, 1))
    assert outcome.findings == ()
    assert len(outcome.accesses) > 10_000


@on_other_ways
def test_other_ways_pass(name: str, cpus: int, folder: Path) -> None:
    """Threaded handlers, disable_irq, tasklets and smaller rings are correct and cause no finding.

    A note says if the fallback was needed.
    """
    source = folder / f"{name}.c"
    source.write_text(edited(*RIGHT[name]))
    outcome = run.run(run.prepared(CARD, source), run.Setting(cpus, 1))
    assert outcome.findings == ()
    noted = {note.rule for note in outcome.notes}
    assert noted == ({"carried out by the fallback"} if name == "cmpxchg8b" else set())


@pytest.mark.slow
def test_a_run_repeats_with_its_seed() -> None:
    """Journals on one processor are the same to the byte; another seed has another journal."""
    built = run.prepared(CARD, REFERENCE)
    journals = [run.run(built, run.Setting(1, seed)).accesses for seed in (5, 5, 6)]
    first, again, other = (journal.tobytes() for journal in journals)
    assert first == again
    assert first != other


def test_json_for_the_grader() -> None:
    """The command tests the copier's reference driver."""
    driver = cards_dir() / "drivers" / "copier_driver.c"
    arguments = ["test", "copier", "--driver", str(driver), "--cpus", "1,2", "--json"]
    result = CliRunner().invoke(command, arguments, standalone_mode=False)
    answer = json.loads(result.stdout)
    assert answer["passed"]
    assert [found["notes"] for found in answer["runs"]] == [[], []]
    assert [found["cpus"] for found in answer["runs"]] == [1, 2]


@pytest.mark.parametrize("name", ["with space", "card", "vpcib", "card_zach1", "iprobe"])
def test_a_driver_with_a_name_that_no_module_can_have(name: str, folder: Path) -> None:
    """The error replaces messages of kbuild or insmod, which would be misleading."""
    source = folder / f"{name}.c"
    source.write_text(REFERENCE.read_text())
    with pytest.raises(UserError, match=r"rename the file"):
        run.prepared(CARD, source)


def test_a_driver_that_does_not_build(folder: Path) -> None:
    """The error has the compiler's message with the line."""
    source = folder / "wrong.c"
    source.write_text("#include <linux/module.h>\nint x = y;\n")
    with pytest.raises(UserError, match=r"wrong\.c:2:9: error: .y. undeclared"):
        run.prepared(CARD, source)


def test_a_driver_that_includes_a_file_of_the_host(folder: Path) -> None:
    """It is built in the sandbox, where there is no such file, so its text is not printed."""
    source = folder / "curious.c"
    source.write_text('#include "/etc/passwd"\n')
    with pytest.raises(UserError, match=r"passwd: No such file") as error:
        run.prepared(CARD, source)
    assert "root:" not in str(error.value)


SEVERAL = {
    "start.c": "#include <linux/module.h>\nint part(void);\n"
    "static int __init start(void)\n{\n\treturn part();\n}\nmodule_init(start);\n"
    'MODULE_LICENSE("GPL");\nMODULE_DESCRIPTION("two files");\n',
    "left.mod.c": "left by kbuild, and no part of the driver\n",
    "part.c": "int part(void);\nint part(void)\n{\n\treturn 0;\n}\n",
}


@pytest.mark.parametrize("kbuild", ["", "obj-m := mine.o\nmine-y := start.o part.o\n"])
def test_a_driver_of_several_files(kbuild: str, tmp_path: Path) -> None:
    """Its folder's name is the module's, unless a Kbuild names the module."""
    folder = tmp_path / "several"
    folder.mkdir()
    for name, text in {**SEVERAL, **({"Kbuild": kbuild} if kbuild else {})}.items():
        (folder / name).write_text(text)
    assert run.prepared(CARD, folder).driver.name == ("mine.ko" if kbuild else "several.ko")


def test_folders_that_are_no_driver(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no C file there"):
        run.prepared(CARD, tmp_path)
    (tmp_path / "part.c").write_text(SEVERAL["part.c"])
    (tmp_path / "Kbuild").write_text("obj-m := a.o\nobj-m += b.o\n")
    with pytest.raises(UserError, match="must name one module"):
        run.prepared(CARD, tmp_path)


def test_raw_pointers_in_the_source(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are found by sparse; without sparse, the referee says so."""
    source = folder / "raw.c"
    lines = {
        "static void start_next(struct zach1 *zach1)\n{\n": "\tvoid *plain = zach1->registers;\n",
        "u32 value, next;\n": "\tu32 first = *user;\n",
    }
    text = REFERENCE.read_text()
    for place, line in lines.items():
        text = text.replace(place, place + line)
    source.write_text(text)
    subject = run.prepared(CARD, source)
    texts = [one.text for one in subject.mistakes]
    assert len(texts) == 2
    assert all(one.rule == "raw pointer" for one in subject.mistakes)
    assert re.match(r"raw\.c:\d+: .*different address spaces", texts[0])
    assert re.match(r"raw\.c:\d+: dereference of noderef", texts[1])
    assert run.prepared(CARD, REFERENCE).mistakes == ()
    assert not any("sparse" in text for text in subject.unchecked)
    assert any("CONFIG_PROVE_LOCKING" in text for text in subject.unchecked)
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "sparse" else which(name))
    kernel = packages.fetch_kernel()
    assert card_modules.warnings(kernel, source, subject.card) == ([], None)


def test_a_result_that_is_ignored(tmp_path: Path) -> None:
    """The compiler names the function whose result the kernel says must be looked at."""
    source = tmp_path / "mine.c"
    source.write_text(WRONG["ignores_copy"].source())
    [mistake] = run.prepared("copier", source).mistakes
    assert mistake.rule == WRONG["ignores_copy"].finding
    assert re.fullmatch(r"mine\.c:\d+: copy_from_user", mistake.text)


def test_a_built_module(folder: Path) -> None:
    """It is used as it is, if it is for the kernel; its file has the module's name."""
    source = folder / "mine.c"
    source.write_text(REFERENCE.read_text())
    built = run.prepared(CARD, source).driver
    module = folder / "mine.ko"
    module.write_bytes(built.read_bytes())
    subject = run.prepared(CARD, module)
    assert subject.driver == module
    assert any("the driver's source" in text for text in subject.unchecked)
    renamed = folder / "yours.ko"
    renamed.write_bytes(built.read_bytes())
    with pytest.raises(UserError, match=r"called 'mine': rename it to mine\.ko"):
        run.prepared(CARD, renamed)
    other = re.sub(rb"vermagic=\d+", b"vermagic=9", built.read_bytes())
    module.write_bytes(other)
    with pytest.raises(UserError, match=r"built for the kernel '9\..*but the VM's is '\d+\."):
        run.prepared(CARD, module)
    for cut in (b"", b"\x7fELF", built.read_bytes()[:1000], b"#include"):
        module.write_bytes(cut)
        with pytest.raises(UserError, match=r"ELF file"):
            run.prepared(CARD, module)


@pytest.mark.parametrize("name", [f"drivers/{CARD}_exercise", f"{CARD}_exercise.c"])
def test_the_exercise_of_a_users_card(name: str, tmp_path: Path) -> None:
    """It is found beside the card; without one, the report says what nobody has looked for."""
    card = tmp_path / f"{CARD}.yaml"
    card.write_bytes((cards_dir() / f"{CARD}.yaml").read_bytes())
    without = run.prepared(str(card), REFERENCE)
    assert without.exercise is None
    assert any("when it is used" in text for text in without.unchecked)
    exercise = tmp_path / name
    exercise.parent.mkdir(exist_ok=True)
    exercise.write_text("int main(void)\n{\n\treturn 0;\n}\n")
    subject = run.prepared(str(card), REFERENCE)
    assert subject.exercise
    assert not any("when it is used" in text for text in subject.unchecked)


@pytest.mark.parametrize(("name", "reason"), [("driver.h", "one C file"), ("none.c", "No such")])
def test_what_is_no_driver(name: str, reason: str, folder: Path) -> None:
    with pytest.raises(UserError, match=reason):
        run.prepared(CARD, folder / name)


def test_demo(tmp_path: Path) -> None:
    """The demo writes pictures and the register log of Zach 1."""
    result = CliRunner().invoke(
        command, ["demo", "zach1", "--out", str(tmp_path)], standalone_mode=False
    )
    assert result.exception is None, result.exception
    assert len(list(tmp_path.glob("frame-*.png"))) == 3
    log = (tmp_path / "register-log.txt").read_text().splitlines()
    assert any("store DMA_START" in line for line in log)
    assert any("handler" in line and "store STATUS 0x1 DMA_DONE=1" in line for line in log)
