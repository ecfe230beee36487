# SPDX-License-Identifier: MIT
"""Run the C tests against mutants of the tested code, in a copy of the tree.

The tested code is one shared library.  A mutant costs one link and the compilation of each source
that includes the file; the test programs stay unchanged.  A mutant that compiles to the original's
code counts as the original.  A mutant that survives without sanitizers is tried with them.  Only
test programs that reach the mutated line run.
"""

import gzip
import json
import os
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from .mutation import Mutation
from .run import run

COPIED = ("core", "sim", "host/traces", "kernel/vpcib", "tests/core")
INSTRUCTIONS = tuple(
    f"kernel/vpcib/{name}.c"
    for name in ("code", "compute", "decode", "emulate", "transplant", "vector")
)
LIBRARY = (
    "core/*.c",
    "core/drive/*.c",
    "core/cards/*.c",
    "core/prefetch/*.c",
    "core/replacement/*.c",
    "core/schedulers/*.c",
    "sim/*.c",
    "sim/workloads/*.c",
    "host/traces/*.c",
    *INSTRUCTIONS,
)
NOT_IN_IT = "sim/port.c"  # the tests have their own, which can fail
HELPERS = (
    "check",
    "host",
    "instruction_forms",
    "native",
    "order_table",
    "policies",
    "schedulers",
    "simulation",
)
TEST = "tests/core/test_*.c"
LISTS = {
    "workload": "sim/workloads",
    "scheduler": "core/schedulers",
    "prefetcher": "core/prefetch",
    "replacer": "core/replacement",
}
"""The folder of each kind that sim/registry.py lists."""

CC = (
    "gcc", "-std=gnu11", "-I.", "-DSCHEDULERS_IN_A_LIST",
    "-Werror=incompatible-pointer-types", "-Werror=int-conversion",
)  # fmt: skip
PLAIN = ("-O2", "-fPIC", "-fno-semantic-interposition")
CHECKED = ("-O1", "-fPIC", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
COUNTED = ("-O0", "-fPIC", "--coverage")
ENVIRONMENT = {"ASAN_OPTIONS": "hard_rss_limit_mb=2000", "PATH": os.environ["PATH"]}
COMPILE_SECONDS = 200
TIMES_LONGER = 10  # time limit: this multiple of the original's time, and some seconds
SECONDS_LONGER = 5


class Build:
    """The library and the test programs, built with one set of flags, in a folder of the copy."""

    def __init__(self, root: Path, name: str, flags: tuple[str, ...]) -> None:
        """Use the sources below `root`."""
        self.root, self._name, self._flags = root, name, flags
        library = [source for pattern in LIBRARY for source in sorted(root.glob(pattern))]
        library.remove(root / NOT_IN_IT)
        self.library = library + [root / "tests/core" / f"{name}.c" for name in HELPERS]
        self.tests = sorted(root.glob(TEST))

    def object_of(self, source: Path) -> Path:
        """Return the path of a source's object file."""
        flat = source.relative_to(self.root).as_posix().replace("/", "-")
        return self.root / self._name / f"{flat}.o"

    def compile(self, source: Path) -> bool:
        """Compile one object."""
        parts: list[str | Path] = [
            str(source.relative_to(self.root)),
            "-o",
            str(self.object_of(source)),
        ]
        return self._run([*CC, *self._flags, "-c", *parts])

    def link(self, tests: Iterable[Path]) -> bool:
        """Link the library and these programs."""
        link: list[str | Path] = [*CC, *self._flags, "-Wl,-rpath,$ORIGIN"]
        library = f"{self._name}/libcore.so"
        objects = [self.object_of(source) for source in self.library]
        return self._run([*link, "-shared", *objects, "-lm", "-o", library]) and all(
            self._run([*link, self.object_of(test), library, "-lm", "-o", self._program(test)])
            for test in tests
        )

    def _program(self, test: Path) -> Path:
        return self.root / self._name / test.stem

    def _run(self, command: list[str | Path]) -> bool:
        return run(command, COMPILE_SECONDS, cwd=self.root)

    def passes(self, test: Path, cpu_seconds: int) -> bool:
        """Return whether the program passes."""
        return run([self._program(test)], cpu_seconds, cwd=self.root, env=ENVIRONMENT)

    def make(self) -> None:
        """Build everything from the original sources."""
        (self.root / self._name).mkdir()
        for source in [*self.library, *self.tests]:
            must(self.compile(source), source)
        must(self.link(self.tests), self.tests[0].parent)

    def seconds(self) -> dict[str, float]:
        """Return the seconds that each program takes; each must pass."""
        times = {}
        for test in self.tests:
            begun = time.monotonic()
            must(self.passes(test, COMPILE_SECONDS), test)
            times[test.stem] = time.monotonic() - begun
        return times


class Reached:
    """Which test programs reach each line."""

    def __init__(self, root: Path) -> None:
        """Compile and run the tests, and count lines with gcov."""
        build = Build(root, "counted", COUNTED)
        build.make()
        self._by_line: dict[tuple[str, int], set[str]] = defaultdict(set)
        self._code: set[tuple[str, int]] = set()
        for test in build.tests:
            for old in root.glob("counted/*.gcda"):
                old.unlink()
            must(build.passes(test, COMPILE_SECONDS), test)
            self._count(root, test.stem)
        shutil.rmtree(root / "counted")

    def _count(self, root: Path, test: str) -> None:
        counted = [path.relative_to(root) for path in root.glob("counted/*.gcda")]
        subprocess.run(["gcov", "--json-format", *counted], cwd=root, check=True,
                       capture_output=True)  # fmt: skip
        for path in root.glob("*.gcov.json.gz"):
            for file in json.loads(gzip.decompress(path.read_bytes()))["files"]:
                for line in file["lines"]:
                    place = os.path.normpath(file["file"]), line["line_number"]
                    self._code.add(place)
                    if line["count"]:
                        self._by_line[place].add(test)
            path.unlink()

    def by(self, mutant: Mutation) -> set[str] | None:
        """Return the programs that reach the mutated line; None if unknown, as for a constant."""
        places = [(mutant.file, line) for line in range(mutant.line, mutant.last_line + 1)]
        if not any(place in self._code for place in places):
            return None
        return set().union(*(self._by_line[place] for place in places))


class CSuite:
    """A copy of the sources with its objects and programs."""

    def __init__(self, root: Path, reached: Reached, seconds: dict[str, float]) -> None:
        """Use a copy that was made before."""
        self._root, self._reached, self._seconds = root, reached, seconds
        self._plain = Build(root, "plain", PLAIN)
        self._checked = Build(root, "checked", CHECKED)
        sources = [*self._plain.library, *self._plain.tests]
        self._includes = {source: included(root, source) for source in sources}

    def judge(self, mutant: Mutation) -> str:
        """Return what kills the mutant; or "same code", "no program", "survived"."""
        file = self._root / mutant.file
        source = file.read_text(encoding="utf-8")
        users = [user for user, files in self._includes.items() if file in files]
        file.write_text(mutant.apply(source), encoding="utf-8")
        try:
            return self._killer(mutant, self._plain, users) or (
                self._killer(mutant, self._checked, users) or "survived"
            )
        finally:
            file.write_text(source, encoding="utf-8")

    def _killer(self, mutant: Mutation, build: Build, users: list[Path]) -> str | None:
        objects = {build.object_of(user): build.object_of(user).read_bytes() for user in users}
        tests = [user for user in users if user in build.tests]
        try:
            if not all(build.compile(user) for user in users):
                return "no program"
            if all(path.read_bytes() == content for path, content in objects.items()):
                return "same code"
            return self._first_to_fail(mutant, build) if build.link(tests) else "no program"
        finally:
            for path, content in objects.items():
                path.write_bytes(content)
            if tests:
                build.link(tests)

    def _first_to_fail(self, mutant: Mutation, build: Build) -> str | None:
        """Try the test with the file's name first, then the fastest tests."""
        stem = f"test_{Path(mutant.file).stem}"
        reached = self._reached.by(mutant)
        tests = [test for test in build.tests if reached is None or test.stem in reached]
        tests.sort(key=lambda test: (not test.stem.startswith(stem), self._seconds[test.stem]))
        for test in tests:
            limit = int(TIMES_LONGER * self._seconds[test.stem]) + SECONDS_LONGER
            if not build.passes(test, limit):
                return test.stem
        return None


def make_suites(checkout: Path, folder: Path, count: int) -> list[CSuite]:
    """Build one copy, check that its tests pass, and duplicate it."""
    first = folder / "0"
    for part in COPIED:
        shutil.copytree(checkout / part, first / part)
    for kind, sources in LISTS.items():
        files = [first / "sim" / f"{kind}_list.c", *sorted((first / sources).glob("*.c"))]
        program = str(first / "sim" / "registry.py")
        subprocess.run([sys.executable, program, kind, *map(str, files)], check=True)
    reached = Reached(first)
    plain, checked = Build(first, "plain", PLAIN), Build(first, "checked", CHECKED)
    plain.make()
    checked.make()
    seconds = checked.seconds()
    for number in range(1, count):
        shutil.copytree(first, folder / str(number))
    return [CSuite(folder / str(number), reached, seconds) for number in range(count)]


def included(root: Path, source: Path) -> set[Path]:
    """Return the file and those of our files that it includes."""
    command = [*CC, "-MM", str(source)]
    rule = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    return {(root / name).resolve() for name in rule.stdout.replace("\\\n", " ").split()[1:]}


def must(done: bool, source: Path) -> None:
    """Exit unless a step that the original sources must pass is done."""
    if not done:
        raise SystemExit(f"mutants: {source.name} fails as it is: does `make test-core` pass?")
