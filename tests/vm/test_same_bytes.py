# SPDX-License-Identifier: MIT
"""The same seed results in the same bytes on any machine (docs/method.md).

The checkout runs here, and a copy of it runs as if on another machine: in another folder, with one
more scheduler, with another cache in a longer path, as another user on another host in another time
zone and language, more than a year later. The copy runs on one processor of a busy host, where
QEMU's threads are delayed at the worst moments (late.c). It builds everything anew except the
kernel's own files. The files that the VM boots, the throttle's records and the processes' log are
the same bytes for each scheduler, and no pick used an outdated queue.
"""

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import checkouts
import pytest
from guests import ALL_SCHEDULERS, busy_host, late_host, slow_group

from understudy_devices.platforms.vm import packages

pytestmark = slow_group("same-bytes")

ASKED = ("--on", "vm", "--virtual-size", "64MiB", "--requests", "300", "--processes", "20")

Run = dict[str, Any]
YEAR_SECONDS = 400 * 86_400

# A library that sets the host's clock ahead.
LATER_C = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

int clock_gettime(clockid_t id, struct timespec *now)
{
	int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
	int failed = real(id, now);

	if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		now->tv_sec += AHEAD;
	return failed;
}

time_t time(time_t *where)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (where)
		*where = now.tv_sec;
	return now.tv_sec;
}

int gettimeofday(struct timeval *where, void *zone)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	where->tv_sec = now.tv_sec;
	where->tv_usec = now.tv_nsec / 1000;
	return 0;
}
"""

ELSEWHERE = """
hostname quite-another-host-name
umask 077
exec unshare --map-user=12345 --map-group=12345 taskset -c "$PROCESSOR" "$@"
"""


class Machine:
    """The environment in which the command runs, and the words before it."""

    def __init__(self, work: Path, environment: dict[str, str], *before: str) -> None:
        self.environment = environment
        self.before = before
        self._work = work

    def run(self, *words: str) -> str:
        """Return the command's standard output."""
        command = [*self.before, sys.executable, "-P", "-m", "understudy_devices", *words]
        done = subprocess.run(
            command,
            cwd=self._work,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout

    def boots_into(self, scheduler: str) -> dict[str, str]:
        """Return digests of all files that QEMU gets, by name."""
        output = self.run("predict", *ASKED, "--schedulers", scheduler, "--dry-run")
        words = shlex.split(output, comments=True)
        folder = Path(words[words.index("-initrd") + 1]).parent
        return {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest()
            for file in folder.iterdir()
            if file.name != "out.tar"
        }

    def runs(self, schedulers: Sequence[str] = ALL_SCHEDULERS) -> dict[str, Run]:
        """Return every scheduler's entry in result.json."""
        folder = f"run-{len(schedulers)}"
        names = ",".join(schedulers)
        self.run("predict", *ASKED, "--schedulers", names, "--jobs", "2", "--out", folder)
        document = json.loads((self._work / folder / "result.json").read_text())
        return {run["scheduler"]: run for run in document["runs"]}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Return the checkout as it is, with its cache."""
    return Machine(tmp_path_factory.mktemp("here"), dict(os.environ))


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Return a machine as different as one host allows."""
    folder = tmp_path_factory.mktemp("elsewhere")
    root = checkouts.copy(folder / "of-somebody-else" / "checkout")
    beside = (root / "core" / "schedulers" / "fcfs.c").read_text()
    (root / "core" / "schedulers" / "aaa.c").write_text(beside.replace("fcfs", "aaa"))
    cache = folder / "a-cache-whose-path-is-a-good-deal-longer-than-that-of-the-other-one"
    unpack_kernel(cache / "understudy" / "kernel")
    environment = {
        **checkouts.with_our_build(root),
        "XDG_CACHE_HOME": str(cache),
        "LC_ALL": "C",
        "LANGUAGE": "tr",
        "TZ": "Pacific/Kiritimati",
        "LD_PRELOAD": str(later(folder)),
        "PROCESSOR": str(min(os.sched_getaffinity(0))),
        "SOMETHING": "more in the environment " * 40,
    }
    return Machine(folder, environment, "unshare", "--uts", "sh", "-c", ELSEWHERE, "sh")


@pytest.fixture(scope="module")
def runs_here(here: Machine) -> dict[str, Run]:
    """Run all schedulers on the host as it is."""
    return here.runs()


@pytest.fixture(scope="module")
def runs_elsewhere(elsewhere: Machine) -> dict[str, Run]:
    """Run all schedulers on a busy, late host.

    The first machine is saved before that, since its boot would take minutes there.
    """
    elsewhere.runs(["none"])
    elsewhere.environment["LD_PRELOAD"] += f":{late_host()}"
    with busy_host():
        return elsewhere.runs()


def unpack_kernel(place: Path) -> None:
    """Unpack the kernel's build files in another folder, whose name they contain."""
    kernel = packages.fetch_kernel()
    copy = packages.Kernel(kernel.release, kernel.version, place / kernel.folder.name)
    for folder in ("usr", "private"):
        shutil.copytree(kernel.folder / folder, copy.folder / folder, symlinks=True)
    for folder in ("boot", "lib"):
        (copy.folder / folder).symlink_to(kernel.folder / folder)
    makefile = copy.headers / "Makefile"
    there = makefile.read_text().replace(str(kernel.folder), str(copy.folder))
    assert there != makefile.read_text()
    makefile.write_text(there)


def later(folder: Path) -> Path:
    """Return a library that sets the host's date ahead."""
    (folder / "later.c").write_text(LATER_C)
    target = folder / "later.so"
    command = ["gcc", "-shared", "-fPIC", f"-DAHEAD={YEAR_SECONDS}", "-o", str(target)]
    subprocess.run([*command, str(folder / "later.c")], check=True)
    return target


def test_the_other_machine_is_another(elsewhere: Machine) -> None:
    """Otherwise the tests below would prove nothing."""
    look = (
        "import os, socket, time;"
        "print(os.getuid(), socket.gethostname(), time.strftime('%Y %Z'), "
        "len(os.sched_getaffinity(0)))"
    )
    command = [*elsewhere.before, sys.executable, "-c", look]
    output = subprocess.check_output(command, env=elsewhere.environment, text=True).split()
    assert output[:2] == ["12345", "quite-another-host-name"]
    assert int(output[2]) > int(subprocess.check_output(["date", "+%Y"]))
    assert output[3:] == ["+14", "1"]


@pytest.mark.parametrize("scheduler", ["cfq", "none"])
def test_it_boots_into_the_same(scheduler: str, here: Machine, elsewhere: Machine) -> None:
    """Modules, programs, file system and scenario are the same."""
    assert here.boots_into(scheduler) == elsewhere.boots_into(scheduler)


@pytest.mark.parametrize("scheduler", ALL_SCHEDULERS)
def test_the_same_bytes(
    scheduler: str, runs_here: dict[str, Run], runs_elsewhere: dict[str, Run]
) -> None:
    """Records and the processes' log are the same, and therefore every figure."""
    one, other = runs_here[scheduler], runs_elsewhere[scheduler]
    for fact in ("sha256", "counters", "file_system", "versions"):
        assert one["facts"][fact] == other["facts"][fact]
    assert one["mean_response_ms"] == other["mean_response_ms"]
    counters = one["facts"]["counters"]
    assert counters["stale"] == counters["late"] == counters["failed"] == 0
