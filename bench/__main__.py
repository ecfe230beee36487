# SPDX-License-Identifier: MIT
"""All benchmarks, one after another; docs/benchmarks.md holds their last figures."""

import runpy
import sys

PARTS = ("accuracy", "speed", "order", "dispatch", "simulator", "agreement")

for name in (f"bench.{part}" for part in PARTS):
    print(f"\n## {name}\n", flush=True)
    sys.argv = [name]
    try:
        runpy.run_module(name, run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            raise
