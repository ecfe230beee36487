# SPDX-License-Identifier: MIT
"""The mutation tool: its mutants, its samples, and its list of equivalent mutants."""

import random
from pathlib import Path

import pytest
from mutants import __main__ as tool
from mutants import c_source, python_source
from mutants.c_suite import CC
from mutants.mutation import Mutation, known, stale
from mutants.run import run

pytestmark = pytest.mark.thorough

C = """\
/* a < b, if (no) */
#define LIMIT 7u
static const u8 table[] = { 3 };

static u64 *f(struct x *x, u64 b)
{
	u64 sum = 0;

	if (!x || b >= 10)
		return NULL;
	for (; b; b--)
		sum += g(x->y, "a == b", b);
	x->last = true;
	return b > 1 ? &x->a : *x->list;
}
"""
PYTHON = '''\
"""a < b"""
LIMIT: int = 3


def f(a: int, b: float) -> int:
    if not a and b >= 1.5:
        log(a, b)
    return g(a + b, key=True)[-1] if a else f"{a + 1}"
'''


def after(mutations: list[Mutation]) -> set[str]:
    return {one.after for one in mutations}


def test_what_is_changed_in_c() -> None:
    assert after(c_source.mutations("x.c", C)) == {
        "#define LIMIT 8u",
        "#define LIMIT 6u",
        "static const u8 table[] = { 4 };",
        "static const u8 table[] = { 2 };",
        "u64 sum = 1;",
        "if (x || b >= 10)",
        "if (!x && b >= 10)",
        "if (!x || b > 10)",
        "if (!x || b >= 11)",
        "if (!x || b >= 9)",
        "if (!(!x || b >= 10))",
        "for (; b; b++)",
        'sum -= g(x->y, "a == b", b);',
        'sum += g("a == b", x->y, b);',
        'sum += g(x->y, b, "a == b");',
        ";",
        "x->last = false;",
        "return b >= 1 ? &x->a : *x->list;",
        "return b > 2 ? &x->a : *x->list;",
        "return b > 0 ? &x->a : *x->list;",
        "return b > 1 == 0 ? &x->a : *x->list;",
    }


def test_arguments_of_other_types_are_no_program(tmp_path: Path) -> None:
    source = tmp_path / "x.c"
    for swapped in ("f(b, a, 3)", "f(a, 3, b)"):
        source.write_text(
            "struct a { int i; }; struct b { int i; };\n"
            "int f(struct a *a, struct b *b, long n);\n"
            f"int g(struct a *a, struct b *b) {{ return {swapped}; }}\n"
        )
        assert not run([*CC, "-c", str(source), "-o", "x.o"], 10, cwd=tmp_path)


def test_what_is_changed_in_python() -> None:
    line = 'return g(a + b, key=True)[-1] if a else f"{a + 1}"'
    assert after(python_source.mutations("x.py", PYTHON)) == {
        "LIMIT: int = (3 + 1)",
        "LIMIT: int = (3 - 1)",
        "if ((not a) or (b >= 1.5)):",
        "if (a) and b >= 1.5:",
        "if not a and (b > 1.5):",
        "if not a and b >= (1.5 + 1):",
        "if not a and b >= (1.5 - 1):",
        "if (not (not a and b >= 1.5)):",
        "pass",
        "log(b, a)",
        line.replace("a + b", "(a - b)"),
        line.replace("True", "False"),
        line.replace("-1", "(1)"),
        line.replace("-1", "-(1 + 1)"),
        line.replace("-1", "-(1 - 1)"),
        line.replace("if a", "if (not (a))"),
    }


def test_every_mutant_is_another_program() -> None:
    """Not one leaves its file as it was, and the same sources give the same mutants."""
    found = tool.all_mutations()
    assert found == tool.all_mutations()
    assert {one.file for one in found} > {
        "core/surge.h",
        "sim/engine.c",
        "understudy_devices/traces/read.py",
    }
    for one in random.Random(1).sample(found, 300):
        source = (tool.CHECKOUT / one.file).read_text(encoding="utf-8")
        assert one.apply(source) != source
        assert one.apply(source)[: one.start] == source[: one.start]


def test_the_list_of_equivalents_is_true_and_gives_reasons() -> None:
    assert stale(known(), tool.all_mutations()) == []
    assert all(len(reason.split()) > 3 for reason in known().values())


def test_an_entry_that_no_mutant_has_is_told(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text("# why\n\ncore/fifo.h\t\ta ==> b\tno such line\n")
    assert stale(known(path), tool.all_mutations()) == ["core/fifo.h: a ==> b"]
    path.write_text("core/fifo.h a ==> b no such line\n")
    with pytest.raises(SystemExit, match=r"list:1: not 'file, before ==> after, reason' by tabs"):
        known(path)


def test_a_sample_is_the_seeds() -> None:
    def sample(seed: int, count: int, files: str = "*") -> list[Mutation]:
        arguments = tool.arguments(["--seed", str(seed), "--sample", str(count), "--files", files])
        return tool.choose(arguments, tool.all_mutations())

    assert sample(1, 50) == sample(1, 50) != sample(2, 50)
    assert len(set(sample(1, 50))) == 50
    assert {one.file for one in sample(1, 10**6, "core/surge.h")} == {"core/surge.h"}
