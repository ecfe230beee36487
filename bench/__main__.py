# SPDX-License-Identifier: MIT
"""All benchmarks, one after another; docs/benchmarks.md holds their last figures."""

import runpy
import sys

for name in ("bench.accuracy", "bench.speed", "bench.order", "bench.dispatch"):
    print(f"\n## {name}\n", flush=True)
    sys.argv = [name]
    try:
        runpy.run_module(name, run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            raise
