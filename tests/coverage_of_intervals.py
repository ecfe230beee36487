# SPDX-License-Identifier: MIT
"""Print how often the 95 % intervals of `consolidate` cover the mean of processes that are known.

    PYTHONPATH=tests python tests/coverage_of_intervals.py --samples 5 --requests 119 1500 4000

takes a quarter of an hour on a free processor.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from independent_consolidation import ROWS, Requests, Row, responses, sampled, truth_ms

from understudy_devices.base.errors import UserError
from understudy_devices.consolidation import vm
from understudy_devices.consolidation.fits import fit_each
from understudy_devices.consolidation.prediction import Effort, Prediction, predict
from understudy_devices.consolidation.replications import Replications
from understudy_devices.consolidation.scenario import Scenario, Tenant
from understudy_devices.engine.local import Local

TRUTH_SEED = 10**6


def trace(requests: Requests, servers: int, file: Path) -> Path:
    """Write the trace of a VM that runs alone."""
    arrival_ns = (requests.at * 1e6).astype(np.int64)
    [times] = responses([requests], [1], servers)
    completion_ns = arrival_ns + np.maximum(1, (times * 1e6).astype(np.int64))
    count = len(arrival_ns)
    columns = {"arrival_ns": arrival_ns, "completion_ns": completion_ns}
    columns |= {"sector": np.arange(count) * 8, "sectors": np.full(count, 8)}
    pl.DataFrame({**columns, "op": ["read"] * count}).write_parquet(file)
    return file


def predicted(vms: list[Requests], row: Row, folder: Path, jobs: int = 1) -> Prediction:
    """Predict from traces of these VMs alone."""
    how = vm.Reduction(servers=row.servers)
    files = [trace(one, row.servers, folder / f"vm{k}.parquet") for k, one in enumerate(vms)]
    machines = [vm.read(f"vm{k}", file, folder / str(k), how) for k, file in enumerate(files)]
    fits = fit_each(machines, accept_poor=False, jobs=1)
    tenants = map(Tenant, machines, fits, row.weights)
    scenario = Scenario(tuple(tenants), row.servers)
    return predict(Replications(scenario, 1, Local(jobs)), Effort(replications=10))


def main() -> None:
    """Print a line for each row and number of requests, then all together."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--requests", type=int, nargs="+", default=[119, 1500, 4000])
    parser.add_argument("--truth", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", nargs="+", default=[row.name for row in ROWS])
    given = parser.parse_args()
    totals: dict[int, list[bool]] = {}
    for fewest in given.requests:
        for row in (row for row in ROWS if row.name in given.rows):
            truth = truth_ms(row, fewest, given.truth, TRUTH_SEED)
            inside, off, width, drawn, refused = [], [], [], 0, 0
            for number in range(given.samples):
                vms = sampled(row, fewest, [given.seed, number, fewest])
                try:
                    with tempfile.TemporaryDirectory() as folder:
                        answer = predicted(vms, row, Path(folder))
                        together = answer.together
                except UserError as error:
                    print(error)
                    refused += 1
                    continue
                drawn += sum(one.recorded for one in answer.scenario.tenants)
                for one, true_ms in zip(together, truth, strict=True):
                    low, high = one.limits_ms or (0, 0)
                    inside.append(low <= true_ms <= high)
                    off.append(one.mean.mean / true_ms - 1)
                    width.append(high / low)
            totals.setdefault(fewest, []).extend(inside)
            print(
                f"{fewest:6,} {row.name:28} {sum(inside):3}/{len(inside):3}  error median "
                f"{np.median(np.abs(off)):6.1%} mean {np.mean(off):6.1%} largest "
                f"{max(off, key=abs):7.1%}  high/low {np.median(width):6.2f}  from trace {drawn}  "
                f"refused {refused}",
                flush=True,
            )
    for fewest, inside in totals.items():
        print(f"{fewest:6,} all: {sum(inside)} of {len(inside)}, {np.mean(inside):.1%}")


if __name__ == "__main__":
    main()
