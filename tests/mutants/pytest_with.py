# SPDX-License-Identifier: MIT
"""pytest_with.py MODULE FILE TEST ...: run the tests with FILE in place of MODULE."""

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest


class Plugin:
    """Replaces the module, and makes Hypothesis try the same examples in every run."""

    def __init__(self, name: str, file: Path) -> None:
        """Take the module's name and the file that replaces it."""
        self._name, self._file = name, file

    def pytest_configure(self) -> None:
        """Replace the module before any test is imported."""
        from hypothesis import settings

        settings.register_profile("mutants", settings(), derandomize=True, database=None)
        settings.load_profile("mutants")
        parent, _, last = self._name.rpartition(".")
        spec = spec_from_file_location(self._name, self._file)
        assert spec
        assert spec.loader
        module = sys.modules[self._name] = module_from_spec(spec)
        setattr(import_module(parent), last, module)
        spec.loader.exec_module(module)


name, file, *tests = sys.argv[1:]
sys.exit(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests], [Plugin(name, Path(file))]))
