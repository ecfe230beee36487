# SPDX-License-Identifier: MIT
"""iprobe on the running kernel: the self-test module with some rounds on two CPUs, and many.

The module proves, call by call, that after iprobe_register every call is replaced, after
iprobe_unregister none is, and in between each is one or the other; here each of its lines
is a test.  Also: a probed module can't be unloaded from under its users.

The two CPUs are one thread of TCG on the wall clock (QEMU can't boot two CPUs with
icount, and its two threads miss patched code).  Each round waits for some four RCU grace
periods, 0.1 s each, which nobody can shorten; meanwhile the processor is free.
"""

import re

import pytest
from guests import boot, group, once, slow_group, text

from understudy.platforms.vm.machine import Result

after = pytest.mark.parametrize(
    "rounds",
    [pytest.param(250, marks=group("iprobe")), pytest.param(1000, marks=slow_group("iprobe-many"))],
)
CLAIMS = (
    "replacement",
    "pass-through",
    "decision per call",
    "unknown function refused",
    "function without an ftrace entry refused",
    "second probe on a function refused",
    "unregister waits for a sleeper",
    "two CPUs hammering",
)


@once
def selftest(rounds: int) -> Result:
    """The VM in which the self-test ran as the module was loaded."""
    return boot(
        "rmmod iprobe 2> /out/rmmod && fail 'iprobe went'\n"
        "rmmod iprobe_selftest && rmmod iprobe || fail 'iprobe stayed'\n",
        {"iprobe": "", "iprobe_selftest": f"rounds={rounds}"},
        clock="wall",
        cpus=2,
        timeout_seconds=3000,
    )


@after
@pytest.mark.parametrize("claim", CLAIMS)
def test_selftest_proves(claim: str, rounds: int) -> None:
    """Each claim is printed as proved."""
    assert f"iprobe_selftest: {claim}: ok" in text(selftest(rounds), "dmesg")


@after
def test_selftest_passed(rounds: int) -> None:
    """Nothing failed, nor did a claim go missing here."""
    log = text(selftest(rounds), "dmesg")
    assert "iprobe_selftest: passed" in log
    assert tuple(re.findall(r"iprobe_selftest: (.*): ok$", log, re.MULTILINE)) == CLAIMS


@after
@pytest.mark.parametrize("cpu", [0, 1])
def test_both_cpus_called_during_changes(cpu: int, rounds: int) -> None:
    """Each CPU called the function while the other one was changing its code."""
    found = re.search(
        rf"{rounds} rounds: CPU {cpu}: (\d+) calls, (\d+) replaced, 0 wrong; "
        r"during changes (\d+) original, (\d+) replaced",
        text(selftest(rounds), "dmesg"),
    )
    assert found
    calls, replaced, original_then, replaced_then = map(int, found.groups())
    assert calls > replaced > rounds
    assert original_then > rounds
    assert replaced_then > rounds


@after
def test_used_module_stays(rounds: int) -> None:
    """Rmmod of iprobe is refused while another module uses it, and works afterwards."""
    assert "temporarily unavailable" in text(selftest(rounds), "rmmod")
