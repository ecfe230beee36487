# SPDX-License-Identifier: MIT
"""Results of the benchmarks, in bench/results/NAME.json: rows, sizes, date, versions.

Only the last result of each benchmark is kept; git has earlier ones.
"""

import json
import os
import platform
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from bench.part import Part, Row
from understudy_devices import __version__
from understudy_devices.base.cache import digest_of_files
from understudy_devices.base.paths import ROOT
from understudy_devices.platforms.vm import packages, qemu

FOLDER = ROOT / "bench" / "results"
SOURCES = ("core", "sim", "kernel", "guest", "host", "understudy_devices", "vesper")


@dataclass(frozen=True)
class Result:
    """The result of one benchmark, and the properties of the run.

    `load` is the mean number of threads that ran or waited on the whole machine in the minute
    before the run.  It shows how busy the machine was with other work.
    """

    size: str
    arguments: Mapping[str, Any]
    date: str
    wall_seconds: float
    load: float
    versions: Mapping[str, str]
    tables: Mapping[str, list[Row]]


def file_of(name: str) -> Path:
    """Return the path of the file with a part's result."""
    return FOLDER / f"{name}.json"


def read(name: str) -> Result | None:
    """Return the part's last result, or None."""
    file = file_of(name)
    return Result(**json.loads(file.read_text(encoding="utf-8"))) if file.exists() else None


def write(name: str, result: Result) -> None:
    """Replace the last result.  Each row is one line, so that a diff shows which rows changed."""
    whole = asdict(result)
    tables = [
        f"  {_dumped(table)}: [\n   " + ",\n   ".join(map(_dumped, rows)) + "\n  ]"
        for table, rows in whole.pop("tables").items()
    ]
    others = [f" {_dumped(key)}: {_dumped(value)}" for key, value in whole.items()]
    others.append(' "tables": {\n' + ",\n".join(tables) + "\n }")
    file_of(name).write_text("{\n" + ",\n".join(others) + "\n}\n", encoding="utf-8")


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def take(part: Part, size: str, each: Callable[[str, Row], None]) -> Result:
    """Measure, and return the result; `each` is called with each row as soon as it is measured."""
    load = os.getloadavg()[0]
    began = time.monotonic()
    rows: dict[str, list[Row]] = defaultdict(list)
    for table, row in part.measure(**part.sizes[size]):
        rows[table].append(
            {name: row[name] for column in part.tables[table] for name in column.names}
        )
        each(table, row)
    return Result(
        size=size,
        arguments=part.sizes[size],
        date=date.today().isoformat(),
        wall_seconds=round(time.monotonic() - began, 1),
        load=round(load, 1),
        versions=_versions(part.in_vm),
        tables=dict(rows),
    )


def _versions(in_vm: bool) -> dict[str, str]:
    """Return the versions of everything that may affect the figures; `code` is a digest of the
    sources.
    """
    versions = {
        "understudy": __version__,
        "code": _code(),
        "python": platform.python_version(),
        "gcc": _gcc(),
        "processors": f"{os.cpu_count()} x {_processor()}",
    }
    if in_vm:
        kernel = packages.current_kernel()
        versions |= {"kernel": f"{kernel.release} ({kernel.version})", "QEMU": qemu.version()}
    return versions


def _code() -> str:
    files = (file for folder in SOURCES for file in (ROOT / folder).rglob("*.*"))
    return digest_of_files(file for file in files if file.suffix in (".c", ".h", ".py"))


def _gcc() -> str:
    command = ["gcc", "-dumpfullversion"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = (line.partition(":")[2] for line in lines if line.startswith("model name"))
    return " ".join(next(models, platform.machine()).split())
