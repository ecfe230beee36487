# SPDX-License-Identifier: MIT
"""The workloads: each is a class in a module of this folder, and is found without a list.

A workload has a name, parameters, and an implementation for each platform: a file of
sim/workloads/ for the simulator, a program of guest/ for the VM.  A workload that lacks one of
these can't run on that platform.
"""

import pkgutil
from importlib import import_module

from understudy_devices.ask.workloads.workload import Workload


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
