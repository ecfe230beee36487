# SPDX-License-Identifier: MIT
"""iprobe on the running kernel: the self-test module, with a few rounds on two CPUs and with many.

The module checks, call by call, that after iprobe_register every call is replaced, after
iprobe_unregister none is, and during a change each call is one or the other. Each line of its
output is a test here. Another test shows that a module in use can't be unloaded.

The two CPUs are one thread of TCG in wall clock: QEMU can't boot two CPUs with icount, and two
threads of TCG would miss patched code. Each round waits for some four RCU grace periods of 0.1 s,
and the processor is idle meanwhile.
"""

import re

import pytest
from guests import boot, group, once, slow_group, text

from understudy_devices.platforms.vm.machine import Result

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
    """Boot the VM in which the self-test runs when its module is loaded."""
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
    assert f"iprobe_selftest: {claim}: ok" in text(selftest(rounds), "dmesg")


@after
def test_selftest_passed(rounds: int) -> None:
    """Nothing failed, and CLAIMS lists every claim."""
    log = text(selftest(rounds), "dmesg")
    assert "iprobe_selftest: passed" in log
    assert tuple(re.findall(r"iprobe_selftest: (.*): ok$", log, re.MULTILINE)) == CLAIMS


@after
@pytest.mark.parametrize("cpu", [0, 1])
def test_both_cpus_called_during_changes(cpu: int, rounds: int) -> None:
    """Each CPU called the function while the other CPU was changing its code."""
    match = re.search(
        rf"{rounds} rounds: CPU {cpu}: (\d+) calls, (\d+) replaced, 0 wrong; "
        r"during changes (\d+) original, (\d+) replaced",
        text(selftest(rounds), "dmesg"),
    )
    assert match
    calls, replaced, original_then, replaced_then = map(int, match.groups())
    assert calls > replaced > rounds
    assert original_then > rounds
    assert replaced_then > rounds


@after
def test_used_module_stays(rounds: int) -> None:
    """rmmod of iprobe is refused while another module uses it, and succeeds afterwards."""
    assert "temporarily unavailable" in text(selftest(rounds), "rmmod")
