# SPDX-License-Identifier: MIT
"""The list of the linked workloads and schedulers: each file registers itself (sim/registry.py)."""

import subprocess
import sys
from pathlib import Path

import pytest
from places import CHECKOUT

SOURCES = sorted((CHECKOUT / "sim" / "workloads").glob("*.c"))
PROGRAM = """\
#include <stdio.h>
#include "sim/registry.h"

int main(void)
{
	u32 i;

	for (i = 0; i < workload_count(); i++)
		puts(workload_get(i)->name);
	return 0;
}
"""


def written(output: Path, *sources: Path) -> subprocess.CompletedProcess[str]:
    """Run registry.py."""
    program = str(CHECKOUT / "sim" / "registry.py")
    return subprocess.run(
        [sys.executable, program, "workload", *map(str, (output, *sources))],
        capture_output=True,
        text=True,
        check=False,
    )


def test_files_are_listed_and_no_linker_section_is_needed(tmp_path: Path) -> None:
    names = ["second", "first"]
    for name in names:
        (tmp_path / f"{name}.c").write_text(
            '#include "sim/workload.h"\n'
            f'static const struct workload {name}_workload = {{ .name = "{name}" }};\n'
            f"REGISTER_WORKLOAD({name}_workload);\n"
        )
    (tmp_path / "main.c").write_text(PROGRAM)
    assert written(tmp_path / "list.c", *(tmp_path / f"{it}.c" for it in names)).returncode == 0
    program = tmp_path / "program"
    files = map(str, tmp_path.glob("*.c"))
    subprocess.run(["gcc", "-std=gnu11", f"-I{CHECKOUT}", *files, "-o", str(program)], check=True)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert printed.split() == names
    assert b"workloads" not in program.read_bytes(), "a section of our own, which Mach-O lacks"


@pytest.mark.parametrize(
    "text", ["int x;\n", "/* REGISTER_WORKLOAD(x); */\n", "  REGISTER_WORKLOAD(x);\n"]
)
def test_a_file_that_registers_nothing_stops_the_build(tmp_path: Path, text: str) -> None:
    new = tmp_path / "mine.c"
    new.write_text(text)
    done = written(tmp_path / "list.c", *SOURCES, new)
    assert done.returncode == 1
    assert done.stderr == f"{new}: no line REGISTER_WORKLOAD(NAME);\n"
    assert not (tmp_path / "list.c").exists()
