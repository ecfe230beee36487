# SPDX-License-Identifier: MIT
"""Interrupting a call, as a notebook does, ends every run and leaves no process and no file.

tests/vm/test_python_in_vms.py interrupts VMs.
"""

import random
from pathlib import Path

import pytest
from calls import home_in, interrupted
from places import CHECKOUT

pytestmark = pytest.mark.thorough

RUNS = 'workload="random", processes=20, requests=2_000_000, out="run"'
ENDLESS = "(time.sleep(1000) for _ in range(9))"
CALLS = {
    "import": (f"us.compare({RUNS})", 0.5),
    "simulate": (f'us.compare({RUNS}, schedulers="cats,./mine.c")', 6.0),
    "generator": (f"import time; us.predict(workload={ENDLESS}, requests=9)", 2.0),
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", CALLS)
def test_a_call_ends(name: str, seed: int, tmp_path: Path) -> None:
    call, seconds = CALLS[name]
    home = home_in(tmp_path)
    mine = (CHECKOUT / "core/schedulers/fcfs.c").read_text().replace("fcfs", "mine")
    (home.work / "mine.c").write_text(mine)
    moment = random.Random(f"{name} {seed}").uniform(0, seconds)
    assert interrupted(home, call, "begins", moment) == ["begins", "interrupted"]
