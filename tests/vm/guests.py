# SPDX-License-Identifier: MIT
"""Shared parts of the VM tests: booting a scenario, an experiment, and a check of the log.

Every test boots the stock kernel. A VM is expensive, so tests of the same VM get it from a function
that runs `once`, and are in the same xdist group; run them with `pytest -n 2 --dist loadgroup`. The
group "iprobe" has the most tests so that xdist starts it first: it takes longest and hardly uses
the processor.
"""

import dataclasses
import functools
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pytest

from understudy_devices.ask import schedulers
from understudy_devices.ask.experiment import Experiment, asked
from understudy_devices.ask.schedulers import Choice, Tunables
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.base.programs import Program, compiled
from understudy_devices.base.progress import silent
from understudy_devices.device import profile
from understudy_devices.device.profile import DiskProfile
from understudy_devices.native import descriptions, replay
from understudy_devices.platforms.vm import machine, qemu, scenario, turns

P = ParamSpec("P")
R = TypeVar("R")
MIB = 2**20
GIB = 2**30
CHEETAH = profile.load("cheetah-15k4")
assert CHEETAH.facts
FULL_SIZE_BYTES = CHEETAH.facts.capacity_sectors * 512
OUR_SCHEDULERS = tuple(schedulers.core())
WITHOUT_A_MODEL = tuple(n for n in OUR_SCHEDULERS if not descriptions.scheduler(n).needs_model)
ALL_SCHEDULERS = (*OUR_SCHEDULERS, "none", "mq-deadline", "bfq", "kyber")
SCHEDULER_MODULES = {"bfq": "", "kyber-iosched": "", **dict.fromkeys(OUR_SCHEDULERS, "")}

# A kernel's reports that something is wrong with it, even if it continues.
TROUBLE = re.compile(
    r"\bWARNING\b|\bBUG\b|Oops|Call Trace|INFO: |hung task|blocked for more than|general protection"
    r"|corruption|soft lockup|\bstall|unexpectedly|while atomic|refcount_t|lockdep(?! checking)"
    r"|Kernel panic|leaked|double free|poison"
)

# The kernel refused memory, and then shows the caller's stack.
REFUSED = re.compile("vmalloc error: size|page allocation failure")
TRACE = re.compile(r"Call Trace:|\] +(\? )?[\w.]+\+0x[0-9a-f]+/0x[0-9a-f]+( \[\w+\])?$")
TRACE_ENDS = "</TASK>"

# Shell functions for scenarios, which write their results to files in /out.
PRELUDE = r"""
fail() {
	echo "scenario: $*" > /dev/console
	exit 1
}
put() {
	echo "$1" > "$2" || fail "$2 refuses $1"
}
# attempt VALUE FILE: writes a line "FILE=VALUE: ok", or the reason, to /out/attempts
attempt() {
	said=$({ echo "$1" > "$2"; } 2>&1) && said=ok
	echo "${2##*/}=$1: ${said##*: }" >> /out/attempts
}
wait_for() {
	tries=0
	while ! eval "$1"; do
		tries=$((tries + 1))
		[ $tries -lt 6000 ] || fail "waited in vain for $1"
		sleep 0.1
	done
}
# Mounts devices at /nodes, where a shell makes no file if a device is missing.
nodes() {
	mkdir /nodes
	mount -o bind /dev /nodes && mount -o remount,bind,ro /nodes || fail 'no /nodes'
}
# throttle DEVICE: throttles a disk, and sets $vpt to the folder of the throttle's files
throttle() {
	put "$1" /sys/kernel/vpt/add
	vpt=/sys/kernel/vpt/${1##*/}
}
# Writes kmemleak's report to /out/leaks, which is empty on kernels without kmemleak.
leaks() {
	: > /out/leaks
	mount -t debugfs debug /sys/kernel/debug 2> /dev/null
	kmemleak=/sys/kernel/debug/kmemleak
	[ -e $kmemleak ] || return 0
	# A leak is reported if it is old enough at the first scan and still there at the second.
	for round in 1 2; do
		sleep 6
		echo scan > $kmemleak
	done
	cat $kmemleak > /out/leaks
}
release() {
	put "${vpt##*/}" /sys/kernel/vpt/remove
}
"""


# A program that takes a processor away from QEMU for 5 ms, again and again.
BURSTS = """
import os, time
while os.getppid() == {parent}:
    begin = time.monotonic()
    while time.monotonic() < begin + 0.005:
        pass
    time.sleep(0.015)
"""


@contextmanager
def busy_host() -> Iterator[None]:
    """Run a process that competes for the processors during the block."""
    with subprocess.Popen([sys.executable, "-c", BURSTS.format(parent=os.getpid())]) as other:
        try:
            yield
        finally:
            other.kill()


def late_host() -> Path:
    """Return a library for LD_PRELOAD that delays QEMU's threads at the worst moments."""
    return compiled(Program("late.so", ("tests/vm/late.c",), flags=turns.TURNS.flags))


def once(run: Callable[P, R]) -> Callable[P, R]:
    """Run a VM once in a process; each caller gets its result or its exception."""
    outcomes: dict[tuple[object, ...], R | Exception] = {}

    @functools.wraps(run)
    def remembered(*arguments: P.args, **keywords: P.kwargs) -> R:
        key = (*arguments, *keywords.items())
        if key not in outcomes:
            try:
                outcomes[key] = run(*arguments, **keywords)
            except Exception as error:
                outcomes[key] = error
        outcome = outcomes[key]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return remembered


def boot(
    scenario: str,
    modules: Mapping[str, str] | None = None,
    *,
    files: Mapping[str, bytes | str | Path] | None = None,
    timeout_seconds: float = 1200,
    **hardware: Any,
) -> machine.Result:
    """Boot, run a scenario that must succeed, and check the kernel's log for TROUBLE."""
    vm = machine.Vm(
        scenario=PRELUDE + scenario,
        modules=modules or {},
        files=files or {},
        machine=qemu.Machine(**hardware),
        timeout_seconds=timeout_seconds,
    )
    result = machine.run(vm)
    assert result.exit_code == 0, result.console
    assert_clean(result.out)
    return result


def assert_clean(out: Mapping[str, bytes]) -> None:
    """Check that no line of the guest's log is a complaint of the kernel."""
    log = out["dmesg"].decode(errors="replace")
    bad = complaints(log.splitlines())
    assert not bad, "\n".join(bad) + "\n--- whole log:\n" + log


def complaints(log: Sequence[str]) -> list[str]:
    """Return the lines that match TROUBLE, without stack traces of refused memory.

    Tests refuse memory on purpose, and check the effects themselves.
    """
    bad, refused = [], False
    for line in log:
        refused = TRACE_ENDS not in line and (refused or bool(REFUSED.search(line)))
        if TROUBLE.search(line) and not (refused and TRACE.search(line)):
            bad.append(line)
    return bad


def attempts(result: machine.Result) -> dict[str, str]:
    """Return the results of `attempt` in the scenario: "file=value" -> "ok" or the reason."""
    lines = result.out["attempts"].decode().splitlines()
    return {key: reason for key, _, reason in (line.rpartition(": ") for line in lines)}


def text(result: machine.Result, name: str) -> str:
    """Return one file of /out."""
    return result.out[name].decode().strip()


def pairs(data: bytes) -> dict[str, int]:
    """Return lines "name number" as a dictionary."""
    words = (line.split() for line in data.decode().splitlines())
    return {word[0]: int(word[1]) for word in words if len(word) == 2 and word[1].isdigit()}


def experiment(
    workload: str = "random",
    scheduler: str = "none",
    disk: DiskProfile = CHEETAH,
    tunables: Tunables = (),
    **changes: Any,
) -> Experiment:
    """Return an experiment: one process that reads a small disk at random, with changes."""
    own = {"requests": 300, "virtual_bytes": 64 * MIB, "processes": 1} | changes
    return asked(WORKLOADS[workload], Choice(scheduler, tunables), disk, "vm", **own)


def raw_run(
    run: Experiment, *, extra: str = "", edit: tuple[str, str] = ("", "")
) -> machine.Result:
    """Run an experiment in a VM and return its files, unread.

    `extra` is shell code for the end of its scenario; `edit` replaces a part of it.
    """
    vm = scenario.describe(run, silent)
    assert edit[0] in vm.scenario
    script = (vm.scenario.replace(*edit) if edit[0] else vm.scenario) + extra
    result = machine.run(dataclasses.replace(vm, scenario=script))
    assert result.exit_code == 0, result.console
    assert_clean(result.out)
    return result


def first_difference(kernel: replay.Tape, program: replay.Tape) -> str | None:
    """Describe the first call whose answers differ, or return None."""
    different = np.flatnonzero(kernel != program)
    if not len(different):
        return None
    at = different[0]
    return f"call {at} of {len(kernel)}: {kernel[at]} in the kernel, {program[at]} here"


def group(name: str) -> pytest.MarkDecorator:
    """Keep the tests of one VM on one xdist worker."""
    return pytest.mark.xdist_group(name)


def slow_group(name: str) -> list[pytest.MarkDecorator]:
    """Mark a slow test of a VM, which `make test` replaces by others."""
    return [group(name), pytest.mark.slow]
