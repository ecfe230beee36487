# SPDX-License-Identifier: MIT
"""Runs a stranger's scheduler that is known to be right, as a grader runs a student's.

The compiler, the sandbox and the simulator's program are needed for every file of a stranger.  If
one of them does not work here, each such file seems to be wrong.  So this test comes first: what
it finds is the machine's fault, and nobody else's.
"""

import numpy as np

from understudy_devices.base import sandbox, scratch
from understudy_devices.base.errors import RunFailed
from understudy_devices.base.plain import one_line, shortened
from understudy_devices.native import descriptions, registry, simulator
from understudy_devices.native.drive import Drive
from understudy_devices.native.simulation import Rows, Simulation

KNOWN_GOOD = "fcfs"
NAME = "self-test"
CAPACITY = 2**16
REQUESTS = 32


def run() -> None:
    """Compile and run the scheduler; RunFailed says in one line what this machine lacks."""
    try:
        sandbox.require("a stranger's scheduler")
        file = _stranger()
        with scratch.folder("understudy-self-test-") as folder:
            registry.compile_into(file, folder)  # what the cache has says nothing of the compiler
        _simulate(file)
    except Exception as error:
        said = shortened(one_line(str(error))) or type(error).__name__
        raise RunFailed(f"the self-test failed: {said}") from error


def _stranger() -> registry.Source:
    """Return the project's scheduler as a stranger's file, with a name of its own."""
    ours = registry.our_file(registry.FOLDER, KNOWN_GOOD)
    declared = f'.name = "{KNOWN_GOOD}"'.encode()
    text = ours.text.replace(declared, f'.name = "{NAME}"'.encode())
    return registry.Source(f"{NAME}.c", text)


def _simulate(file: registry.Source) -> None:
    """Run it under a few requests, which it has to serve in the order of arrival."""
    descriptions.describe(file)
    rows = Rows(
        first=np.array([0, REQUESTS]),
        think_ns=np.zeros(REQUESTS, np.uint64),
        sector=np.arange(REQUESTS)[::-1] * 8,
        sectors=np.full(REQUESTS, 8),
        op=np.zeros(REQUESTS, np.uint8),
        owner=np.zeros(REQUESTS, np.uint32),
    )
    simulation = Simulation(
        workload="rows-open",
        scheduler=NAME,
        device=Drive.linear(CAPACITY, 1_000_000, 5_000_000),
        capacity_sectors=CAPACITY,
        requests=REQUESTS,
        rows=rows,
    )
    with registry.lent(NAME, file):
        answer = simulator.run(simulation)
    order = answer.rows["request_id"][np.argsort(answer.rows["dispatch_ns"], kind="stable")]
    if answer.figures.completed != REQUESTS or not (np.diff(order) > 0).all():
        raise RunFailed(f"{NAME}.c, which is {KNOWN_GOOD}, served requests in a wrong order")
