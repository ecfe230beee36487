# SPDX-License-Identifier: MIT
"""Methods to measure a drive.

Each module in this folder is a method, without further registration.

A method's name is its module's name with dashes: perform-2010 for perform_2010.py.  The module has

* LIMITS, the text of a profile's `limits` (the requests for which it was fitted), or "";
* WRITES, whether it can measure writes;
* measure(bench, writing, report), which returns the findings.

A module of the same name in `show/profiled/` draws the findings.  Without such a module
an overview is drawn.
"""

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from understudy_devices.base.catalog import pick
from understudy_devices.base.progress import Report
from understudy_devices.profiler.findings.finding import Finding
from understudy_devices.profiler.targets.bench import Bench

FULL = "full"


@dataclass(frozen=True)
class Method:
    """A method: its name and the contents of its module."""

    name: str
    limits: str
    writes: bool
    measure: Callable[[Bench, bool, Report], list[Finding]]


def names() -> list[str]:
    """Return the names of all methods, the default first."""
    all_names = (module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__))
    return sorted(all_names, key=lambda name: (name != FULL, name))


def named(name: str) -> Method:
    """Return the method of that name."""
    module_name = pick("method", name, {each: each.replace("-", "_") for each in names()})
    module = import_module(f"{__name__}.{module_name}")
    return Method(name, module.LIMITS, module.WRITES, module.measure)
