# SPDX-License-Identifier: MIT
"""pytest_with.py MODULE FILE TEST ...: the tests, with FILE as MODULE."""

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from hypothesis import settings

name, file, *tests = sys.argv[1:]
parent, _, last = name.rpartition(".")
spec = spec_from_file_location(name, Path(file))
assert spec
assert spec.loader
module = sys.modules[name] = module_from_spec(spec)
setattr(import_module(parent), last, module)
spec.loader.exec_module(module)
settings.register_profile("mutants", derandomize=True, database=None)
settings.load_profile("mutants")
sys.exit(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests]))
