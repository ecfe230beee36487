# SPDX-License-Identifier: MIT
"""A driver's accesses are carried out at every level of compiler optimisation.

tests/instructions/trapped.c runs each idiom on ordinary memory and on a page whose faults are
emulated, and compares the results.  The accesses made are compared with the source: a compiler must
keep the number, width and order of volatile accesses.
"""

import os
import subprocess
from functools import cache

import pytest
from places import CHECKOUT

from understudy_devices.base.programs import Program, compiled

LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
PARTS = ("code", "compute", "decode", "emulate", "vector")
SOURCES = (
    str(CHECKOUT / "tests" / "instructions" / "trapped.c"),
    str(CHECKOUT / "tests" / "instructions" / "idioms.c"),
    *(f"kernel/vpcib/{part}.c" for part in PARTS),
)
# The guest's processor has no AVX, so libc's copy functions must not use AVX here.
OF_THE_GUEST = "AVX", "AVX2", "AVX512F", "AVX512VL", "AVX512BW", "AVX_Fast_Unaligned_Load"

# As tests/instructions/idioms.c has them.
EXACT = {
    "read_each_width": "r4@0 r2@8 r1@15 r8@16 r4@24 r2@32 r1@36",
    "write_each_width": "w4@0 w2@8 w1@15 w8@16 w8@16 r4@24 w4@28 r2@32 w1@37",
    "set_and_clear_bits": "r4@0 w4@0 r4@0 w4@0 r4@0 w4@0 r1@15 w1@15 r2@8 w2@8 "
    "r8@16 w8@16 r8@16 w8@16 r8@16 w8@16 r1@15",
    "count": "r4@24 w4@24 r4@28 w4@28 r2@8 w2@8 r1@12 w1@12 r4@0 r8@16 w8@16 "
    "r2@10 w2@10 r1@13 w1@13 r4@24 r4@28",
    "shift_and_multiply": "r4@0 w4@0 r4@24 w4@24 r1@36 r8@16 w8@16 r2@8 w2@8 r2@32 r4@28 w4@28 "
    "r4@0 r2@8 w4@4 r8@16 r4@4 r4@0 r4@0",
    "compare": "r4@4 r4@4 r8@16 r4@0 r1@15 r2@32 r4@4 r1@15 r2@32 r2@34 r4@28",
    "swap": "r4@0 r4@4 w4@4 r8@16 w8@16 r4@0 w4@0 r4@0 w4@0 r1@15 w1@15",
    "fill_by_bytes": " ".join(f"{what}1@{44 + n}" for what in "wr" for n in range(64)),
    "reals": "r4@108 r8@112 w4@108 r4@0 w8@112",
    "move_strings": " ".join(
        [f"w1@{44 + n}" for n in range(40)]
        + [f"r8@{120 + 8 * n}" for n in range(5)]
        + [f"w4@{120 + 4 * n}" for n in range(9)]
    ),
}
FREE = {"set_bit_fields", "copy_whole", "copy_parts", "add_arrays", "set_fields"}


@cache
def accesses(level: str) -> dict[str, str]:
    """Return the accesses of each idiom, compiled at that level."""
    program = Program(f"trapped{level}", SOURCES, flags=("-static", level))
    without = ",".join(f"-{name}" for name in OF_THE_GUEST)
    done = subprocess.run(
        [compiled(program)],
        env={**os.environ, "GLIBC_TUNABLES": f"glibc.cpu.hwcaps={without}"},
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


@pytest.mark.parametrize("level", LEVELS)
def test_all_is_carried_out(level: str) -> None:
    """Every instruction is decoded, and the device ends with the same contents as memory."""
    assert set(accesses(level)) == set(EXACT) | FREE
    for name, what in accesses(level).items():
        assert "decode" not in what, f"{name}: {what}"
        assert what != "differs", name


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", EXACT)
def test_volatile_accesses_are_those_of_the_source(level: str, name: str) -> None:
    """Each volatile access happens once, with its type's width, in the source's order."""
    assert accesses(level)[name] == EXACT[name]
