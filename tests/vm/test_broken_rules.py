# SPDX-License-Identifier: MIT
"""Schedulers with a bug, as elevators of the stock kernel.

Each is the template with one change. The shim logs the scheduler, the rule and the request, and
continues in order of arrival, so every read still ends. A scheduler with a wrong declaration is
refused when its module is loaded. A bug that no shim can survive ends the VM, and the error names
the function.
"""

import re
import resource
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import pytest
from guests import MIB, PRELUDE, boot, experiment, group, text
from places import CHECKOUT

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.native import registry
from understudy_devices.native.registry import Source
from understudy_devices.platforms.vm import machine, modules, packages, scenario
from understudy_devices.platforms.vm.machine import Result, Vm

pytestmark = group("broken rules")

TAKE = "fifo_remove(&fcfs->pending, rq);\n\treturn rq;"
ADD = "fifo_add(&fcfs->pending, rq);"
ANSWER = "return rq;\n}"
HOLD_BACK = "if (rq)\n\t\tfifo_add(&fcfs->pending, rq);\n\t"
HAS_WORK = "return fcfs->pending.oldest;"


def fields(name: str, offset: str, initial: int) -> list[tuple[str, str]]:
    """Return the changes that declare two tunables: this one, and one called other."""
    first = (
        f'{{ .name = "{name}", .help = "?", .offset = {offset}, .initial = {initial}, .max = 5 }}'
    )
    second = '{ .name = "other", .help = "?" }'
    declared = f"static const struct sched_field fcfs_tunables[] = {{ {first}, {second} }};\n\n"
    return [
        ("static const struct scheduler", declared + "static const struct scheduler"),
        (".add", ".tunables = fcfs_tunables, .nr_tunables = 2,\n\t.add"),
    ]


# Changes to the template, and the error that follows.
WORKING = {
    "twice": ([("\tif (rq)\n\t\t" + TAKE, "\treturn rq;")], r"next returned request \d+ twice"),
    "foreign": (
        [(ANSWER, "return rq ? (void *)fcfs : NULL;\n}")],
        "next returned a request that was never added",
    ),
    "forgotten": (
        [(ADD, "if (rq->id != 7)\n\t\tfifo_add(&fcfs->pending, rq);")],
        "has_work says no while request 7 is pending",
    ),
    "silent": (
        [(ANSWER, HOLD_BACK + "return NULL;\n}")],
        r"next holds request 1 back for ever: nothing is in service, and it names no time",
    ),
    "idle": ([(HAS_WORK, "return false;")], "has_work says no while request 1 is pending"),
    "busy": ([(HAS_WORK, "return true;")], "has_work says yes while no request is pending"),
    "late": (
        [(ANSWER, "if (rq && now_ns % 3)\n\t\treturn rq;\n\t*wake_ns = 1;\n\treturn NULL;\n}")],
        r"next asks to be called again \d+ ns ago",
    ),
    "patient": (
        [(ANSWER, HOLD_BACK + "*wake_ns = now_ns + 1000000000;\n\treturn NULL;\n}")],
        "next holds request 1 back for longer than its tunables allow",
    ),
}
REFUSED = {
    "no-next": ([(".next = fcfs_next,", "")], "next is missing"),
    "no-add": ([(".add = fcfs_add,", "")], "add is missing"),
    "no-remove": ([(".remove = fcfs_remove,", "")], "remove is missing"),
    "no-has-work": ([(".has_work = fcfs_has_work,", "")], "has_work is missing"),
    "no-name": ([('.name = "NAME"', ".name = NULL")], "it has no name"),
    "long-name": ([('"NAME"', '"as-long-as-this-is"')], "its name has more than 15 characters"),
    "outside": (fields("far", "sizeof(struct fcfs)", 0), "its tunable far lies outside its state"),
    "above": (fields("a", "8", 6), "its tunable a has an initial value outside its range"),
    "same": (fields("other", "8", 0), "two of its fields have the name other"),
}
# The kernel's mq-deadline has this name, too; our first scheduler of the name is us-deadline.
DEADLINE = [('"NAME"', '"deadline"')]
FIRST = {"first": (DEADLINE, "")}
REFUSED["second"] = (DEADLINE, "its name is taken")
DEADLY = {
    "null": ([("return rq;\n}", "return rq->fifo_next->fifo_next;\n}")], "null_next"),
    "bounds": ([(ADD, ADD + "\n\tfcfs[1ull << 40].pending.oldest = rq;")], "bounds_add"),
    "endless": (
        [(ANSWER, "while (*(volatile u64 *)&rq->id)\n\t\t;\n\treturn rq;\n}")],
        "endless_next",
    ),
    "halted": (
        [(ADD, f'if (rq->id == 7)\n\t\tasm volatile("cli; hlt");\n\t{ADD}')],
        "halted_add",
    ),
}


def scheduler(name: str, changes: list[tuple[str, str]]) -> str:
    """Return the template with these changes, under another name."""
    source = (CHECKOUT / "core" / "schedulers" / "fcfs.c").read_text()
    source = source.replace('.name = "fcfs"', '.name = "NAME"')
    for old, new in changes:
        assert old in source, old
        source = source.replace(old, new, 1)
    return source.replace("NAME", name).replace("fcfs", name.replace("-", "_"))


@pytest.fixture(scope="module", autouse=True)
def strangers() -> Iterator[None]:
    """Register all of these schedulers, and replace fcfs by one that forgets a request."""
    before = dict(registry._added)
    for name, (changes, _) in (WORKING | FIRST | REFUSED | DEADLY).items():
        registry.add(name, Source(f"{name}.c", scheduler(name, changes).encode()))
    forgetful = scheduler("fcfs", WORKING["forgotten"][0])
    registry.add("fcfs", Source("fcfs.c", forgetful.encode()))
    yield
    registry._added.clear()
    registry._added.update(before)


READ = """
read_all() {
	random --device /dev/vdisk --processes 4 < /dev/null > /tmp/said 2>&1 &
	random=$!
	wait_for 'grep -qs ready /tmp/said'
	sleep 0.1
	kill -TERM $random
	wait $random || fail "random: $(cat /tmp/said)"
}
"""
SURVIVED = (
    READ
    + """
for name in WORKING; do
	dmesg -c > /dev/null
	insmod /modules/$name.ko || fail "$name does not load"
	put $name /sys/block/vdisk/queue/scheduler
	read_all
	cat /tmp/said > /out/said-$name
	put none /sys/block/vdisk/queue/scheduler
	rmmod $name || fail "$name stays"
	dmesg > /out/log-$name
done
cat /sys/block/vdisk/inflight > /out/inflight
insmod /modules/first.ko || fail 'first does not load'
for name in REFUSED; do
	dmesg -c > /dev/null
	insmod /modules/$name.ko 2> /dev/null && fail "$name loads"
	dmesg > /out/log-$name
done
dmesg -c > /dev/null
"""
)


@pytest.fixture(name="vm", scope="module")
def fixture_vm(strangers: None) -> Result:
    """Boot the VM in which all of them are tried."""
    kernel = packages.fetch_kernel()
    names = (*WORKING, *FIRST, *REFUSED)
    files = {f"modules/{name}.ko": modules.scheduler_module(kernel, name) for name in names}
    tries = SURVIVED.replace("WORKING", " ".join(WORKING)).replace("REFUSED", " ".join(REFUSED))
    return boot(tries, {"vdisk": f"size={MIB}"}, files=files)


def rules(vm: Result, name: str) -> list[str]:
    """Return the lines about a scheduler's broken rules."""
    lines = [line.partition("] ")[2] for line in text(vm, f"log-{name}").splitlines()]
    return [line for line in lines if "rule broken" in line]


@pytest.mark.parametrize("name", WORKING)
def test_a_rule_broken_at_work_is_named_once(vm: Result, name: str) -> None:
    """Every read ends nevertheless."""
    (line,) = rules(vm, name)
    module = name.replace("-", "_")
    assert re.fullmatch(f"understudy: {module}: rule broken: {WORKING[name][1]}", line)
    _, _, failed, _ = text(vm, f"said-{name}").splitlines()[-1].split()
    assert failed == "0"


@pytest.mark.parametrize("name", REFUSED)
def test_a_rule_broken_by_its_declaration_refuses_the_module(vm: Result, name: str) -> None:
    """The scheduler is refused before it is used; BusyBox's insmod tries twice."""
    module = name.replace("-", "_")
    assert set(rules(vm, name)) == {f"understudy: {module}: rule broken: {REFUSED[name][1]}"}


def test_nothing_is_left_of_them(vm: Result) -> None:
    """No request is in flight."""
    assert text(vm, "inflight").split() == ["0", "0"]


def work_with(name: str) -> Vm:
    """Return a VM that runs reads with one scheduler, as a measurement would."""
    return Vm(
        PRELUDE
        + READ
        + f"port notify choosing\nput {name} /sys/block/vdisk/queue/scheduler\nread_all",
        {"vdisk": f"size={MIB}", name: ""},
        keeps_rules=True,
    )


def test_a_broken_rule_ends_a_run() -> None:
    """The line of the log becomes the error."""
    with pytest.raises(RunFailed, match=r"^twice: rule broken: next returned request \d+ twice$"):
        machine.run(work_with("twice"))


def test_a_measurement_that_waits_for_a_forgotten_request_ends() -> None:
    """The other processes continue until they are stopped; then the forgotten request shows."""
    run = experiment(scheduler="fcfs", processes=4)
    with pytest.raises(RunFailed, match=r"^fcfs: rule broken: has_work says no while request 7 "):
        machine.run(scenario.describe(run, lambda phase, fraction: None))


@pytest.mark.parametrize("name", ["null", "bounds"])
def test_a_crash_names_the_function(name: str) -> None:
    """The error contains the kernel's own description, too."""
    with pytest.raises(
        RunFailed, match=rf"died in {DEADLY[name][1]}\+0x\w+ \[{name}\]: (BUG: |general protection)"
    ):
        machine.run(work_with(name))


def processor_seconds() -> float:
    """Return the processor time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_an_endless_loop_is_named_within_20_s() -> None:
    """The guest is examined when it is silent, long before the time-out.

    The limit is on QEMU's processor time, which does not depend on other work on the host. The
    saved machine and the module exist before the measurement. A kernel that checks each memory
    access needs more.
    """
    kernel = packages.fetch_kernel()
    with pytest.raises(RunFailed):
        machine.run(work_with("twice"))
    machine.build(work_with("endless"), kernel)
    before = processor_seconds()
    with pytest.raises(RunFailed, match=r"stuck in endless_next\+0x\w+ \[endless\]"):
        machine.run(work_with("endless"))
    assert processor_seconds() - before < (200 if kernel.looks_at_each_access else 20)


@pytest.mark.parametrize("clock", ["virtual", "wall"])
def test_a_guest_that_has_halted_is_named(clock: Literal["virtual", "wall"]) -> None:
    """With either clock, QEMU is idle after that."""
    vm = work_with("halted")
    vm = replace(vm, machine=replace(vm.machine, clock=clock))
    with pytest.raises(RunFailed, match=r"stuck in halted_add\+0x\w+ \[halted\]"):
        machine.run(vm)


def test_floating_point_is_refused_by_name() -> None:
    """The kernel has no floating point; our error says so, and the compiler's message does not."""
    floats = "static double mean;\n\tmean = mean * 0.9 + now_ns;\n\treturn mean > 5 ? rq : NULL;\n}"
    source = scheduler("floats", [(ANSWER, floats)])
    registry.add("floats", Source("floats.c", source.encode()))
    with pytest.raises(UserError, match=r"floats.c does not compile:\nit uses floating point"):
        modules.scheduler_module(packages.fetch_kernel(), "floats")
    with pytest.raises(UserError, match=r"floats.c does not compile:\nit uses floating point"):
        registry.compiled(registry.source("floats"))
