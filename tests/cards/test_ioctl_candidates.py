# SPDX-License-Identifier: MIT
"""The numbers in a compiled driver that the hostile exercise tries as ioctl requests."""

import subprocess
from pathlib import Path

import pytest

from understudy_devices.base.programs import GUEST_COMPILER
from understudy_devices.referee import requests

SOURCE = """
#include <linux/ioctl.h>
struct known {{ unsigned int number; int (*run)(void); }};
int first(void), second(void);
const struct known table[] = {{ {{ _IOWR('t', 7, int), first }} }};
int chosen(unsigned int number)
{{
	switch (number) {{
	{cases}
	}}
	return -25;
}}
"""
SPARSE = {
    "_IO('s', 0)": 0x7300,
    "_IOR('s', 3, char[40])": 0x80287303,
    "_IOW('s', 9, long)": 0x40087309,
}
DENSE = {f"_IO('d', {number})": 0x6400 + number for number in range(6)}


@pytest.mark.parametrize("numbers", [SPARSE, DENSE])
def test_requests_in_the_code_and_in_a_table(numbers: dict[str, int], tmp_path: Path) -> None:
    """Also those of a dense switch, for which the compiler makes a jump table."""
    cases = "\n".join(
        f"case {text}: return {'first' if index % 2 else 'second'}() + {index * index};"
        for index, text in enumerate(numbers)
    )
    (tmp_path / "driver.c").write_text(SOURCE.format(cases=cases))
    command = [GUEST_COMPILER, "-O2", "-c", "driver.c", "-o", "driver.o"]
    subprocess.run(command, cwd=tmp_path, check=True)
    found = requests.candidates((tmp_path / "driver.o").read_bytes())
    assert {*numbers.values(), 0xC0047407} <= {*found}
    assert len(found) < requests.MOST
    assert len(requests.packed(found)) == 4 * len(found)
