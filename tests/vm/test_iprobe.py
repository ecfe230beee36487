# SPDX-License-Identifier: MIT
"""iprobe on the running kernel: the self-test module with 1,000 rounds on two CPUs.

The module proves, call by call, that after iprobe_register every call is replaced, after
iprobe_unregister none is, and in between each is one or the other; here each of its lines
is a test.  Also: a probed module can't be unloaded from under its users.

The two CPUs are one thread of TCG on the wall clock (QEMU can't boot two CPUs with
icount, and its two threads miss patched code).  The 1,000 rounds wait for some 4,000 RCU
grace periods, 0.1 s each, which nobody can shorten; meanwhile the processor is free.
"""

import re

import pytest
from guests import boot, group, once, text

from understudy.platforms.vm.machine import Result

pytestmark = group("iprobe")

ROUNDS = 1000
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
def selftest() -> Result:
    """The VM in which the self-test ran as the module was loaded."""
    return boot(
        "rmmod iprobe 2> /out/rmmod && fail 'iprobe went'\n"
        "rmmod iprobe_selftest && rmmod iprobe || fail 'iprobe stayed'\n",
        {"iprobe": "", "iprobe_selftest": f"rounds={ROUNDS}"},
        clock="wall",
        cpus=2,
        timeout_seconds=3000,
    )


@pytest.mark.parametrize("claim", CLAIMS)
def test_selftest_proves(claim: str) -> None:
    """Each claim is printed as proved."""
    assert f"iprobe_selftest: {claim}: ok" in text(selftest(), "dmesg")


def test_selftest_passed() -> None:
    """Nothing failed, nor did a claim go missing here."""
    log = text(selftest(), "dmesg")
    assert "iprobe_selftest: passed" in log
    assert tuple(re.findall(r"iprobe_selftest: (.*): ok$", log, re.MULTILINE)) == CLAIMS


@pytest.mark.parametrize("cpu", [0, 1])
def test_both_cpus_called_during_changes(cpu: int) -> None:
    """Each CPU called the function while the other one was changing its code."""
    found = re.search(
        rf"{ROUNDS} rounds: CPU {cpu}: (\d+) calls, (\d+) replaced, 0 wrong; "
        r"during changes (\d+) original, (\d+) replaced",
        text(selftest(), "dmesg"),
    )
    assert found
    calls, replaced, original_then, replaced_then = map(int, found.groups())
    assert calls > replaced > ROUNDS
    assert original_then > ROUNDS
    assert replaced_then > ROUNDS


def test_used_module_stays() -> None:
    """Rmmod of iprobe is refused while another module uses it, and works afterwards."""
    assert "temporarily unavailable" in text(selftest(), "rmmod")
