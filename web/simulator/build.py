# SPDX-License-Identifier: MIT
"""Build the simulator for WebAssembly, with all schedulers and policies of this project.

Usage: python web/simulator/build.py FOLDER

Zig, from PyPI, compiles core/, sim/ and sim/wasm/ to FOLDER/simulator.wasm, which imports nothing,
and to FOLDER/simulator.a, which the page links with a user's scheduler (sim/wasm/own/own.c).
"""

import subprocess
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
SOURCES = ("core/*.c", "core/drive/*.c", "sim/*.c", "sim/workloads/*.c", "sim/wasm/*.c")
LISTS = {
    "workload": "sim/workloads",
    "prefetcher": "core/prefetch",
    "replacer": "core/replacement",
    "scheduler": "core/schedulers",
}
# Two errors of Linux that WASI lacks; its own numbers are below 100.
FLAGS = ("-target", "wasm32-wasi", "-std=gnu11", "-O2", "-DETIME=1062", "-DENODATA=1061")
LINKED = ("-DSCHEDULERS_IN_A_LIST", "-mexec-model=reactor", "-flto", "-s", "-Wl,--gc-sections")


def main() -> None:
    """Build the module and the library."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        lists = {kind: _list(kind, Path(temporary)) for kind in LISTS}
        policies = [*_sources(LISTS["prefetcher"]), *_sources(LISTS["replacer"])]
        common = [source for pattern in SOURCES for source in sorted(CHECKOUT.glob(pattern))]
        common += [CHECKOUT / "sim/worker/describe.c", *policies]
        ours = [*_sources(LISTS["scheduler"]), lists.pop("scheduler")]
        _zig("cc", *LINKED, "-o", folder / "simulator.wasm", *common, *ours, *lists.values())
        parts = [*common, *lists.values(), *_sources("sim/wasm/own")]
        _library(parts, Path(temporary), folder / "simulator.a")


def _library(sources: list[Path], folder: Path, output: Path) -> None:
    """Compile each source alone, and pack them; two of them may have the same name."""
    objects = [folder / f"{number}.o" for number, _ in enumerate(sources)]
    for source, compiled in zip(sources, objects, strict=True):
        _zig("cc", "-DSCHEDULERS_IN_A_LIST", "-g0", "-c", "-o", compiled, source)
    output.unlink(missing_ok=True)
    _run(sys.executable, "-m", "ziglang", "ar", "rcsD", output, *objects)


def _list(kind: str, folder: Path) -> Path:
    """Write the C file with the list of one kind of part (sim/registry.py)."""
    output = folder / f"{kind}s.c"
    registry = CHECKOUT / "sim/registry.py"
    _run(sys.executable, "-S", registry, kind, output, *_sources(LISTS[kind]))
    return output


def _sources(folder: str) -> list[Path]:
    return sorted((CHECKOUT / folder).glob("*.c"))


def _zig(command: str, *arguments: str | Path) -> None:
    _run(sys.executable, "-m", "ziglang", command, *FLAGS, "-I", CHECKOUT, *arguments)


def _run(*command: str | Path) -> None:
    if subprocess.run([str(part) for part in command]).returncode:
        raise SystemExit(f"{Path(command[0]).name}: failed; its messages are above")


if __name__ == "__main__":
    main()
