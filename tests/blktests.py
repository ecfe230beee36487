# SPDX-License-Identifier: MIT
"""Run blktests, the kernel's test suite for block drivers, with our throttle and schedulers:

    python -m tests.blktests FOLDER [TEST ...]

FOLDER is a copy of blktests (it is not a Debian package, and not part of this project).  Its device
tests run in a VM on two of the kernel's disks.  The disks run unthrottled with the kernel's
schedulers first, then throttled with each of our schedulers in turn.  The exit code is 1 if a test
passes unthrottled and fails here, or if the kernel logs a complaint.  If a program that a test
needs is not installed, blktests reports the test as "not run".
"""

import argparse
import io
import re
import shutil
import sys
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from understudy_devices.ask import schedulers
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.platforms.vm import debian_programs, machine, qemu

DISKS = ("sda", "nullb0")
MODULES = {
    "scsi_debug": "dev_size_mb=256 ndelay=100000 max_queue=32 lbpu=1",
    "sd_mod": "",
    "null_blk": "nr_devices=1 gb=1 memory_backed=1 discard=1 submit_queues=2 irqmode=1",
    "ext4": "",
    "crc32c_generic": "",
}
OURS = ("iprobe", "vpt")
AS_IT_IS = ("none", "mq-deadline")
NEEDED = ("bash", "find", "column", "diff", "fio", "mktemp", "dmesg")
USED = (
    *("blkid", "blktrace", "findmnt", "gawk", "getopt", "losetup", "lsblk", "mkfs.ext3", "stat"),
    *("logger", "modinfo", "modprobe", "setpci", "xfs_io"),
)
LEFT_OUT = (".git", "results")
INTERCEPT_NS = 200_000
TROUBLE = re.compile(r"\bWARNING\b|\bBUG\b|Oops|Call Trace|INFO: |blocked for more than|stall")

SCENARIO = """
mkdir -p /usr/bin /var/tmp /dev/shm /sys/kernel/debug
mount -t tmpfs shm /dev/shm
mount -t debugfs debug /sys/kernel/debug
mount -t configfs config /sys/kernel/config
ln -sf /proc/self/fd /dev/fd
[ -e /usr/bin/env ] || ln -s /bin/env /usr/bin/env
until [ -b /dev/sda ] && [ -b /dev/nullb0 ]; do
	sleep 0.1
done
mkdir /blktests && cd /blktests && tar -x -f /blktests.tar || exit 1
printf 'TEST_DEVS=({devices})\\nDEVICE_ONLY=1\\nTIMEOUT={seconds}\\n' >> config
for disk in {disks}; do
	echo 1 > /sys/block/$disk/queue/rotational
done
{throttle}
for scheduler in {schedulers}; do
	for disk in {disks}; do
		echo $scheduler > /sys/block/$disk/queue/scheduler || exit 1
	done
	port notify "blktests $scheduler"
	./check --output=/results/$scheduler {tests} > /out/$scheduler.log 2>&1
	for file in /results/$scheduler/*/*/[0-9][0-9][0-9]; do
		[ ! -e $file ] || echo "${{file#/results/$scheduler/}} $(sed -n 's/^status\\t//p' $file)"
	done > /out/$scheduler.status
done
for disk in {disks}; do
	echo none > /sys/block/$disk/queue/scheduler
	[ ! -d /sys/kernel/vpt/$disk ] || echo $disk > /sys/kernel/vpt/remove || exit 1
done
"""
THROTTLE = f"""
for disk in {" ".join(DISKS)}; do
	echo /dev/$disk > /sys/kernel/vpt/add || exit 1
	echo {INTERCEPT_NS} > /sys/kernel/vpt/$disk/intercept_ns
	echo "0:0 $(cat /sys/block/$disk/size):1000000" > /sys/kernel/vpt/$disk/seek_curve || exit 1
done
"""

Status = Mapping[str, str]
"""By test and disk, such as "sda block/005", what it came to."""


def packed(folder: Path) -> bytes:
    """Return the suite as a tar archive; raise UserError if the folder is not blktests."""
    if not (folder / "check").is_file() or not (folder / "tests").is_dir():
        raise UserError(f"{folder}: no blktests here: it has a script `check` and a folder `tests`")
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in sorted(folder.iterdir()):
            if path.name not in LEFT_OUT:
                archive.add(path, path.name)
    return buffer.getvalue()


def programs() -> dict[str, Path]:
    """Return programs from Debian's packages, which replace BusyBox's."""
    names = [*NEEDED, *(name for name in USED if shutil.which(name))]
    files: dict[str, Path] = {}
    for name in names:
        files |= debian_programs.files(name)
    return files


def run(
    suite: bytes,
    tests: Sequence[str],
    names: Sequence[str],
    seconds: int,
    ours: bool,
) -> dict[str, Status]:
    """Return each scheduler's status for every test; raise RunFailed with the log if the kernel
    complains."""
    vm = machine.Vm(
        scenario=SCENARIO.format(
            devices=" ".join(f"/dev/{disk}" for disk in DISKS),
            disks=" ".join(DISKS),
            schedulers=" ".join(names),
            tests=" ".join(tests),
            seconds=seconds,
            throttle=THROTTLE if ours else "",
        ),
        modules=MODULES | (dict.fromkeys([*OURS, *names], "") if ours else {}),
        files={"blktests.tar": suite, **programs()},
        machine=qemu.Machine(clock="wall", cpus=2, memory_mib=3072),
        timeout_seconds=len(names) * 3600,
    )
    result = machine.run(vm, heard=lambda line: print(line, file=sys.stderr))
    if result.exit_code:
        raise RunFailed(f"the guest gave up:\n{result.console[-2000:]}")
    for name in names:
        print(result.out[f"{name}.log"].decode(errors="replace"))
    complaints = [
        line
        for line in result.out["dmesg"].decode(errors="replace").splitlines()
        if TROUBLE.search(line)
    ]
    if complaints:
        raise RunFailed("the kernel complained:\n" + "\n".join(complaints))
    return {name: _statuses(result.out[f"{name}.status"].decode()) for name in names}


def _statuses(text: str) -> Status:
    lines = (line.rsplit(" ", 1) for line in text.splitlines())
    return {test.replace("/", " ", 1): status for test, status in lines}


def table(results: Mapping[str, Status]) -> Iterable[str]:
    """Yield the table's lines: one line for each test, one column for each scheduler."""
    tests = sorted({test for statuses in results.values() for test in statuses})
    yield f"{'':24}" + "".join(f"{name:>13}" for name in results)
    for test in tests:
        cells = (statuses.get(test, "not run") for statuses in results.values())
        yield f"{test:24}" + "".join(f"{cell:>13}" for cell in cells)


def worse(before: Mapping[str, Status], after: Mapping[str, Status]) -> list[str]:
    """Return the tests that pass with the kernel's schedulers but fail with ours."""
    sure = set.intersection(
        *({test for test, status in each.items() if status == "pass"} for each in before.values())
    )
    return [
        f"{test} with {name}"
        for name, statuses in after.items()
        for test in sorted(sure)
        if statuses.get(test) != "pass"
    ]


def main(words: Sequence[str] | None = None) -> int:
    """Run the tests and return the exit code."""
    ours = schedulers.core()
    parser = argparse.ArgumentParser(
        prog="python -m tests.blktests",
        description=__doc__.split("\n\n")[2] if __doc__ else "",
        epilog="Example: python -m tests.blktests ~/blktests --schedulers cats,cfq block/005",
    )
    parser.add_argument("folder", type=Path, help="a copy of blktests")
    parser.add_argument("tests", nargs="*", default=["block"], help="groups or tests (block)")
    parser.add_argument("--schedulers", default=",".join(ours), help="ours (all of them)")
    parser.add_argument("--seconds", type=int, default=10, help="for each timed test (10)")
    options = parser.parse_args(words)
    names = options.schedulers.split(",")
    if unknown := set(names) - set(ours):
        parser.error(f"no scheduler {', '.join(sorted(unknown))}; there are {', '.join(ours)}")
    try:
        suite = packed(options.folder)
        before = run(suite, options.tests, AS_IT_IS, options.seconds, ours=False)
        after = run(suite, options.tests, names, options.seconds, ours=True)
    except (RunFailed, UserError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print("\n".join(table({**before, **after})))
    if not any(before.values()):
        print(
            f"error: no test of {' '.join(options.tests)} ran; why, stands above", file=sys.stderr
        )
        return 1
    failed = worse(before, after)
    for line in failed:
        print(f"passes without us, and not {line}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
