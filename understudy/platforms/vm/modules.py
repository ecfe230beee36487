# SPDX-License-Identifier: MIT
"""Our kernel modules, built against an unpacked kernel and cached by content."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from understudy.base.cache import cached_folder, digest, digest_of_files
from understudy.base.errors import RunFailed
from understudy.base.paths import ROOT
from understudy.platforms.vm.packages import Kernel


def _sources() -> list[Path]:
    return [
        path
        for top in ("core", "kernel")
        for path in (ROOT / top).rglob("*")
        if path.suffix in (".c", ".h")
    ] + [ROOT / "kernel" / "Kbuild"]


def _build(kernel: Kernel, folder: Path) -> None:
    tree = folder / "tree"
    for top in ("core", "kernel"):
        shutil.copytree(ROOT / top, tree / top)
    shutil.copy(ROOT / "kernel" / "Kbuild", tree / "Kbuild")
    make = subprocess.run(
        [
            "make",
            "-C",
            str(kernel.headers),
            f"M={tree}",
            f"PRIVATE={kernel.private_headers}",
            f"-j{os.cpu_count()}",
            "modules",
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C", "MAKEFLAGS": ""},
    )
    if make.returncode:
        errors = [line for line in make.stderr.splitlines() if re.search(r"error|Error", line)]
        raise RunFailed("building the kernel modules failed:\n" + "\n".join(errors[:20]))
    for module in tree.glob("*.ko"):
        subprocess.run(
            ["strip", "--strip-debug", "-o", str(folder / module.name), str(module)], check=True
        )
    shutil.rmtree(tree)


def build_modules(kernel: Kernel) -> Path:
    """Folder of our .ko files, one for each scheduler in core/schedulers among them."""
    key = digest([kernel.folder.name.encode(), digest_of_files(_sources()).encode()])
    return cached_folder(f"modules/{key}", lambda folder: _build(kernel, folder))


def _modinfo(module: Path, key: str) -> list[str]:
    """Values of one key in a module's .modinfo section."""
    found = re.findall(rb"(?:^|\0)" + key.encode() + rb"=([^\0]*)", module.read_bytes())
    return [value.decode() for value in found]


class ModuleTree:
    """Finds modules by name, the kernel's and ours, and what they need first."""

    def __init__(self, kernel: Kernel, ours: Path) -> None:
        paths = [*kernel.modules.rglob("*.ko"), *ours.glob("*.ko")]
        self._path = {path.stem.replace("-", "_"): path for path in paths}

    def path(self, name: str) -> Path | None:
        """The module's file, or None: it is built into the kernel."""
        return self._path.get(name.replace("-", "_"))

    def in_load_order(self, names: list[str]) -> list[Path]:
        """The modules and all that they depend on, each after what it needs."""
        ordered: dict[Path, None] = {}
        for name in names:
            self._add(name, ordered)
        return list(ordered)

    def _add(self, name: str, ordered: dict[Path, None]) -> None:
        path = self.path(name)
        if path is None or path in ordered:
            return
        for depends in _modinfo(path, "depends"):
            for needed in filter(None, depends.split(",")):
                self._add(needed, ordered)
        ordered[path] = None
