# SPDX-License-Identifier: MIT
"""Do the tests notice when one line is wrong?  (docs/decisions/0024-mutants.md)

Changes one line at a time of the tested code, in a copy, and runs the fast tests.  The exit code is
1 if a mutant survives that equivalent.txt does not list.
"""

import argparse
import json
import os
import queue
import random
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from . import c_source, python_source
from .c_suite import INSTRUCTIONS, make_suites
from .mutation import Mutation, known, stale
from .python_suite import python_suites
from .run import StoppedError, stop_all

CHECKOUT = Path(__file__).parents[2]
C_FILES = (
    "core/*.[ch]",
    "core/drive/*.[ch]",
    "core/cards/*.[ch]",
    "core/prefetch/*.c",
    "core/replacement/*.c",
    "core/schedulers/*.c",
    "sim/*.c",
    "sim/workloads/*.c",
    "host/traces/*.c",
    *INSTRUCTIONS,
)
LEFT_OUT = ("sim/port.c",)  # not in the C tests, which have memory of their own
PYTHON_TESTS = {  # of the packages of understudy_devices/ that are mutated
    "cards": "tests/cards",
    "consolidate": "tests/consolidate",
    "measure": "tests/measure",
    "profiler": "tests/profiler",
    "recommend": "tests/device",
    "referee": "tests/cards",
    "traces": "tests/traces",
}
IN_VMS = ("understudy_devices/referee/run.py", "understudy_devices/referee/demo.py")
SAMPLE = 240
NOT_COUNTED = ("same code", "no program")


def all_mutations() -> list[Mutation]:
    """Return the mutations of all files, in a fixed order."""
    mutations = []
    for pattern in C_FILES:
        for path in sorted(CHECKOUT.glob(pattern)):
            name = path.relative_to(CHECKOUT).as_posix()
            if name not in LEFT_OUT:
                mutations += c_source.mutations(name, path.read_text(encoding="utf-8"))
    for package in PYTHON_TESTS:
        for path in sorted((CHECKOUT / "understudy_devices" / package).rglob("*.py")):
            name = path.relative_to(CHECKOUT).as_posix()
            if name not in IN_VMS:
                mutations += python_source.mutations(name, path.read_text(encoding="utf-8"))
    return mutations


class Court:
    """A pool of test suites, one for each mutant judged in parallel."""

    def __init__(
        self, folder: Path, options: argparse.Namespace, chosen: Iterable[Mutation]
    ) -> None:
        """Build the suites; the tests must pass without a mutant."""
        files = {mutant.file for mutant in chosen}
        python = {name for name in files if name.endswith(".py")}
        self._c = self._queue(make_suites(CHECKOUT, folder, options.jobs) if files - python else [])
        self._python = self._queue(
            python_suites(CHECKOUT, folder, PYTHON_TESTS, options.jobs, thorough=options.thorough)
            if python
            else []
        )

    @staticmethod
    def _queue(suites: Iterable[Any]) -> queue.Queue[Any]:
        free: queue.Queue[Any] = queue.Queue()
        for suite in suites:
            free.put(suite)
        return free

    def judge(self, mutant: Mutation) -> tuple[Mutation, str]:
        """Return the mutant and its fate."""
        free = self._python if mutant.file.endswith(".py") else self._c
        suite = free.get()
        try:
            return mutant, suite.judge(mutant)
        finally:
            free.put(suite)


def judge_all(chosen: list[Mutation], options: argparse.Namespace) -> list[tuple[Mutation, str]]:
    """Return the mutants and their fates, in the order of `chosen`."""
    with (
        tempfile.TemporaryDirectory(prefix="mutants-") as folder,
        ThreadPoolExecutor(options.jobs) as pool,
    ):
        try:
            court = Court(Path(folder), options, chosen)
            futures = [pool.submit(court.judge, mutant) for mutant in chosen]
            for done, future in enumerate(as_completed(futures), start=1):
                mutant, fate = future.result()
                if fate == "survived":
                    print(f"[{done}/{len(chosen)}] survived: {mutant}", file=sys.stderr)
        except BaseException:
            stop_all()
            pool.shutdown(cancel_futures=True)
            raise
        return [future.result() for future in futures]


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--sample", type=int, default=SAMPLE, help="how many (default %(default)s)")
    parser.add_argument("--all", action="store_true", help="all of them: hours")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default %(default)s)")
    parser.add_argument("--files", default="*", help="only of files like this pattern")
    parser.add_argument(
        "--thorough", action="store_true", help="try Python survivors with the thorough tests too"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at a time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every mutant and its fate")
    parser.add_argument("--list", action="store_true", help="print the mutants, run nothing")
    return parser.parse_args(words)


def choose(options: argparse.Namespace, mutations: list[Mutation]) -> list[Mutation]:
    """Return the sample, in the order of the files."""
    mutations = [mutant for mutant in mutations if fnmatch(mutant.file, options.files)]
    if options.all or len(mutations) <= options.sample:
        return mutations
    places = sorted(random.Random(options.seed).sample(range(len(mutations)), options.sample))
    return [mutations[place] for place in places]


def report(options: argparse.Namespace, fates: list[tuple[Mutation, str]]) -> int:
    """Print the survivors; return how many of them equivalent.txt does not explain."""
    equivalents = known()
    survivors = [mutant for mutant, fate in fates if fate == "survived"]
    excused = [mutant for mutant in survivors if mutant.name in equivalents]
    unknown = [mutant for mutant in survivors if mutant.name not in equivalents]
    count = Counter(fate if fate in (*NOT_COUNTED, "survived") else "killed" for _, fate in fates)
    counted = count["killed"] + len(unknown)
    for mutant in unknown:
        print(mutant)
    print(
        f"seed {options.seed}: {len(fates)} mutants, {count['no program']} do not compile, "
        f"{count['same code'] + len(excused)} are equivalent; of the other {counted}, "
        f"{count['killed']} were killed ({100 * count['killed'] / max(counted, 1):.1f} %)"
    )
    if options.json:
        options.json.write_text(json.dumps(as_json(options, fates), indent=1), encoding="utf-8")
    return len(unknown)


def as_json(options: argparse.Namespace, fates: list[tuple[Mutation, str]]) -> dict[str, Any]:
    """Return every mutant with its fate."""
    equivalents = known()
    rows = [
        {
            "file": mutant.file,
            "line": mutant.line,
            "before": mutant.before,
            "after": mutant.after,
            "fate": fate,
            "reason": equivalents.get(mutant.name),
        }
        for mutant, fate in fates
    ]
    return {"seed": options.seed, "mutants": rows}


def main() -> int:
    """Return 0, or 1 if a mutant survived or an entry of equivalent.txt is outdated."""
    options = arguments()
    mutations = all_mutations()
    if old := stale(known(), mutations):
        print("equivalent.txt lists what is not there:", *old, sep="\n", file=sys.stderr)
        return 1
    chosen = choose(options, mutations)
    if options.list:
        print(*chosen, sep="\n")
        return 0
    print(f"seed {options.seed}: {len(chosen)} of {len(mutations)} mutants", file=sys.stderr)
    return 1 if report(options, judge_all(chosen, options)) else 0


def terminated(*_: object) -> None:
    """Handle SIGTERM like an interrupt, so that all processes are ended."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, terminated)
    try:
        sys.exit(main())
    except (KeyboardInterrupt, StoppedError):
        sys.exit(130)
