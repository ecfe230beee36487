# SPDX-License-Identifier: MIT
"""Ways to measure a drive.  A module in this folder is one, and nothing lists it.

It is called like its method, perform_2010.py for perform-2010, and has

* LIMITS, what its profiles are fitted with, in the words of a profile's `limits`, or "";
* WRITES, whether it can measure writes;
* measure(bench, writing, report), which returns the findings.

A module of the same name in `understudy/show/profiled/` draws them; without one they are
drawn as an overview.
"""

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from understudy.base.catalog import pick
from understudy.base.progress import Report
from understudy.profiler.findings.finding import Finding
from understudy.profiler.targets.bench import Bench

FULL = "full"


@dataclass(frozen=True)
class Method:
    """One of them."""

    name: str
    limits: str
    writes: bool
    measure: Callable[[Bench, bool, Report], list[Finding]]


def names() -> list[str]:
    """Of all there are; the default is the first."""
    found = sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__))
    return sorted(found, key=lambda name: name != FULL)


def named(name: str) -> Method:
    """The one that is called so."""
    found = pick("method", name, {each: each.replace("-", "_") for each in names()})
    module = import_module(f"{__name__}.{found}")
    return Method(name, module.LIMITS, module.WRITES, module.measure)
