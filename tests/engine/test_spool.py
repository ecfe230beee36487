# SPDX-License-Identifier: MIT
"""The folder between a command and its tasks: whole lines count once, damaged ones never."""

from pathlib import Path

import pytest

from understudy_devices.base.errors import RunFailed
from understudy_devices.engine.spool import Plan, Spool, Task


def test_a_task_reads_what_was_planned(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    name = spool.plan("v1", [(["a", "b"], {"a": 1, "b": 2}), (["c"], {"c": 3})])
    assert spool.items(Task(name, 1)) == {"c": 3}
    assert spool.plans() == {name: Plan("v1", [["a", "b"], ["c"]])}
    (spool.folder / "broken.plan").write_text('["v1"')
    assert list(spool.plans()) == [name]


def test_answers_arrive_once_and_in_order(tmp_path: Path) -> None:
    writer, reader, task = Spool(tmp_path), Spool(tmp_path), Task("r", 7)
    with writer.answers(task) as answers:
        answers.write("a", {"x": 0.1}, 0.5)
        assert list(reader.new()) == [(task, ("a", {"x": 0.1}, 0.5))]
        assert list(reader.new()) == []
        answers.write("b", None, 1)
        answers.end("why")
    assert list(reader.new()) == [(task, ("b", None, 1)), (task, (None, "why", 0))]


def test_two_starts_of_a_task_do_not_disturb_each_other(tmp_path: Path) -> None:
    spool, task = Spool(tmp_path), Task("r", 0)
    with spool.answers(task) as one, spool.answers(task) as other:
        one.write("a", 1, 0)
        other.write("a", 1, 0)
        one.end()
    assert [line[0] for _, line in spool.new()].count("a") == 2


def test_a_line_that_is_cut_off_waits_for_its_end(tmp_path: Path) -> None:
    file, spool = tmp_path / "r.0.x.answers", Spool(tmp_path)
    file.write_text('["a", 1, 0]\n["b", 2')
    assert [line for _, line in spool.new()] == [("a", 1, 0)]
    with file.open("a") as more:
        more.write("2, 0]\n")
    assert [line for _, line in spool.new()] == [("b", 22, 0)]


@pytest.mark.parametrize("junk", ["\0\0\0", "[1]", "7", '{"a": 1}', "not JSON"])
def test_a_damaged_line_is_skipped(junk: str, tmp_path: Path) -> None:
    (tmp_path / "r.0.x.answers").write_text(f'{junk}\n["b", 2, 0]\n')
    assert [line for _, line in Spool(tmp_path).new()] == [("b", 2, 0)]


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    for name in ("mine.answers", "r.x.y.answers", "1_0_0_log.out"):
        (tmp_path / name).write_text('["b", 2, 0]\n')
    assert list(Spool(tmp_path).new()) == []


def test_no_folder_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "spool"
    with pytest.raises(RunFailed, match=f"cannot use {folder}: Not a directory; take an --out on"):
        Spool(folder).plan("v1", [([], None)])
