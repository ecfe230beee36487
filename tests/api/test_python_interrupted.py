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
VMS = "{'a': 'vm.csv', 'b': 'vm.csv'}, accept_poor_fit=True"
TRACE = "".join(  # a request each 4 ms, which takes 1 to 10 ms
    f"{40_000 * number},vm,1,Read,0,4096,{10_000 + number * 37_000 % 90_001}\n"
    for number in range(3000)
)
CALLS = {  # that do not end by themselves, and within how many seconds to interrupt them
    "import": (f"us.compare({RUNS})", 0.5),
    "simulate": (f'us.compare({RUNS}, schedulers="cats,./mine.c")', 6.0),
    "sweep": ("us.sweep(workloads='random', processes=20, requests=10**6, seeds=99)", 3.0),
    "trace": ("while True: us.trace('vm.csv').measures", 2.0),
    "consolidate": (f"us.consolidate({VMS}, queue_depth=32, replications=9999, out='run')", 8.0),
    "place": (
        f"while True: us.place({VMS}, queue_depths='a=9,b=9', copies='a=12', p95_ms=12)",
        8.0,
    ),
    "generator": (f"us.predict(workload={ENDLESS}, requests=9)", 2.0),
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", CALLS)
def test_a_call_ends(name: str, seed: int, tmp_path: Path) -> None:
    call, seconds = CALLS[name]
    home = home_in(tmp_path)
    mine = (CHECKOUT / "core/schedulers/fcfs.c").read_text().replace("fcfs", "mine")
    (home.work / "mine.c").write_text(mine)
    (home.work / "vm.csv").write_text(TRACE)
    moment = random.Random(f"{name} {seed}").uniform(0, seconds)
    assert interrupted(home, call, "begins", moment) == ["begins", "interrupted"]
