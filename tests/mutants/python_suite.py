# SPDX-License-Identifier: MIT
"""Run the Python tests against mutants of one module, which is replaced at import."""

import sys
from pathlib import Path

from .mutation import Mutation
from .run import run

CPU_SECONDS = 200
Tests = dict[str, tuple[str, ...]]  # by the file that they test


class PythonSuite:
    """The checkout's tests, with the mutant in a separate file."""

    def __init__(self, checkout: Path, mutant: Path, tests: Tests) -> None:
        """Take the file to write mutants to, and the tests for each source file."""
        self._checkout, self._mutant, self._tests = checkout, mutant, tests

    def judge(self, mutant: Mutation) -> str:
        """Return what kills the mutant, or "survived"."""
        source = (self._checkout / mutant.file).read_text(encoding="utf-8")
        self._mutant.write_text(mutant.apply(source), encoding="utf-8")
        return _killer(self._checkout, mutant.file, self._mutant, self._tests[mutant.file])


def check_python(checkout: Path, tests: Tests) -> None:
    """Check that the tests pass with the original modules."""
    for file, names in tests.items():
        if _killer(checkout, file, checkout / file, names) != "survived":
            raise SystemExit(f"mutants: the tests of {file} fail as it is")


def _killer(checkout: Path, file: str, module: Path, tests: tuple[str, ...]) -> str:
    name = file.removesuffix(".py").replace("/", ".")
    runner = Path(__file__).with_name("pytest_with.py")
    command: list[str | Path] = [sys.executable, runner, name, module]
    for test in tests:
        if not run([*command, test], CPU_SECONDS, cwd=checkout):
            return Path(test).stem
    return "survived"
