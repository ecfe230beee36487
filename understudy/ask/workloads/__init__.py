# SPDX-License-Identifier: MIT
"""The workloads: one module in this folder each, found by its classes; nothing lists them.

A workload is a class with a name, its parameters, and what plays it on each platform: a file of
sim/workloads/ in the simulator, a program of guest/ in the VM.  One that leaves either out can't
run there.
"""

import pkgutil
from importlib import import_module

from understudy.ask.workloads.workload import Workload


def _found() -> dict[str, type[Workload]]:
    modules = [
        import_module(f"{__name__}.{entry.name}") for entry in pkgutil.iter_modules(__path__)
    ]
    classes = [
        entry
        for module in modules
        for entry in vars(module).values()
        if isinstance(entry, type) and issubclass(entry, Workload) and entry.name
    ]
    return {entry.name: entry for entry in sorted(set(classes), key=lambda entry: entry.order)}


WORKLOADS = _found()
