# SPDX-License-Identifier: MIT
"""The Python tests against mutants of one module, which is replaced as it is imported.

A mutant is tried with the quick tests that reach its line; coverage.py records which tests those
are.  If it survives, it may be tried with the thorough tests of its package, which take minutes.
"""

import ast
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from coverage import CoverageData

from .mutation import Mutation
from .run import run

CPU_SECONDS = 300  # for the tests of one file
THOROUGH_CPU_SECONDS = 900
QUICK = "not vm and not slow and not thorough"
THOROUGH = "thorough and not vm and not slow"


class Reach:
    """The quick tests that reach each line of the mutated files."""

    def __init__(self, checkout: Path, folder: Path, tests: Sequence[str], jobs: int) -> None:
        """Run the tests of these folders once; all must pass."""
        self._checkout = checkout
        record = folder / "coverage"
        command = [
            *(sys.executable, "-m", "pytest", "-q", "-n", str(jobs), "--dist", "loadfile"),
            *("-p", "no:cacheprovider", "-m", QUICK),
            *("--cov=understudy_devices", "--cov-context=test", "--cov-report=", *tests),
        ]
        environment = {**os.environ, "COVERAGE_FILE": str(record)}
        if subprocess.run(command, cwd=checkout, env=environment, stdout=sys.stderr).returncode:
            raise SystemExit("mutants: the tests fail without a mutant")
        self._data = CoverageData(str(record))
        self._data.read()

    def tests(self, mutant: Mutation) -> dict[str, list[str]]:
        """Return the tests that reach the statement of a mutant, by file.

        A statement that runs when the module is imported belongs to all tests of the module.
        """
        lines = self._data.contexts_by_lineno(str(self._checkout / mutant.file))
        first = _statement(self._checkout / mutant.file, mutant.line)
        reached = {
            context
            for line in range(first, mutant.last_line + 1)
            for context in lines.get(line, ())
        }
        if "" in reached:
            reached = {context for contexts in lines.values() for context in contexts}
        by_file = defaultdict(list)
        for context in sorted(reached - {""}):
            test = context.rpartition("|")[0]
            by_file[test.partition("::")[0]].append(test)
        return dict(sorted(by_file.items(), key=lambda item: len(item[1])))


def _statement(file: Path, line: int) -> int:
    """Return the first line of the innermost statement that has the line."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return max(
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
    )


class PythonSuite:
    """The checkout's tests, with the mutant in a separate file."""

    def __init__(
        self, checkout: Path, mutant: Path, reach: Reach, thorough: Mapping[str, str]
    ) -> None:
        """Write mutants to the file `mutant`; `thorough` has folders of tests, by package."""
        self._checkout, self._mutant, self._reach = checkout, mutant, reach
        self._thorough = thorough

    def judge(self, mutant: Mutation) -> str:
        """Return the file of tests that kills it, or "survived"."""
        source = (self._checkout / mutant.file).read_text(encoding="utf-8")
        self._mutant.write_text(mutant.apply(source), encoding="utf-8")
        name = mutant.file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        for file, tests in self._reach.tests(mutant).items():
            if not self._passes(name, tests, CPU_SECONDS):
                return Path(file).stem
        folder = self._thorough.get(mutant.file.split("/")[1])
        if folder and not self._passes(name, [folder, "-m", THOROUGH], THOROUGH_CPU_SECONDS):
            return "thorough"
        return "survived"

    def _passes(self, module: str, tests: Iterable[str], cpu_seconds: int) -> bool:
        runner = Path(__file__).with_name("pytest_with.py")
        command: list[str | Path] = [sys.executable, runner, module, self._mutant, *tests]
        return run(command, cpu_seconds, cwd=self._checkout)


def python_suites(
    checkout: Path, folder: Path, tests: Mapping[str, str], jobs: int, *, thorough: bool
) -> list[PythonSuite]:
    """Return `jobs` suites; `tests` has each package's folder of tests."""
    reach = Reach(checkout, folder, sorted(set(tests.values())), jobs)
    more = tests if thorough else {}
    return [PythonSuite(checkout, folder / f"mutant-{i}.py", reach, more) for i in range(jobs)]
