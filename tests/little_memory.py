# SPDX-License-Identifier: MIT
"""Read a trace with limited memory of its own, and print figures of it.  Arguments: MiB, the name
of the action, a short trace, the trace.

The program reads the short trace first, so that libraries have allocated what they keep.  The limit
is Linux's RLIMIT_DATA, which excludes mapped files.
"""

import json
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

from understudy_devices.consolidation import vm
from understudy_devices.consolidation.fits import fit_each
from understudy_devices.traces import formats
from understudy_devices.traces.characterise import characterise
from understudy_devices.traces.read import recorded


def info(file: Path) -> tuple[int, float]:
    """Summarise the trace like `understudy trace info`."""
    statistics = characterise(recorded(str(file)))
    assert statistics.response
    return statistics.requests, statistics.response.mean


def reduced(file: Path) -> tuple[int, float]:
    """Reduce the trace like `understudy consolidate`, including the fit."""
    with tempfile.TemporaryDirectory() as folder:
        machine = vm.read("vm", file, Path(folder), vm.Reduction(servers=32))
        fit_each([machine], accept_poor=True, jobs=1)
        return machine.requests, machine.mean_response_ms


def held(file: Path) -> tuple[int, float]:
    """Read the whole trace at once, as no command should."""
    with file.open("rb") as content:
        pieces = list(formats.read(content))
    return sum(piece.frame.height for piece in pieces), 0.0


def _own_bytes() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    fields: dict[str, Any] = dict(line.split(":", 1) for line in status.splitlines())
    return int(fields["VmData"].split()[0]) * 1024


def main(mib: str, what: str, short: str, file: str) -> None:
    """Print the figures of the long trace."""
    act = {"info": info, "reduced": reduced, "held": held}[what]
    act(Path(short))
    limit = _own_bytes() + int(mib) * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    print(json.dumps(act(Path(file))))


if __name__ == "__main__":
    main(*sys.argv[1:])
