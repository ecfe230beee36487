# SPDX-License-Identifier: MIT
"""Copies of the checkout in other folders, which share this checkout's environment."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from places import CHECKOUT

from understudy_devices.native import binding_file

BUILD = binding_file().parent
SKIP = "MESONPY_EDITABLE_SKIP"  # meson-python: leave that build alone


def copy(root: Path) -> Path:
    """Copy the files that git tracks or would track, with their current contents."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(
        command, cwd=CHECKOUT, capture_output=True, text=True, check=True
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (CHECKOUT / name).exists():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(CHECKOUT / name, root / name)
    (root / ".venv").symlink_to(sys.prefix)
    return root


def built_by_itself(root: Path) -> dict[str, str]:
    """Return an environment in which the copy compiles its own core on import."""
    build = root / "build" / BUILD.name
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    subprocess.run(
        ["meson", "setup", build],
        cwd=root,
        env={**os.environ, "PATH": path},
        capture_output=True,
        check=True,
    )
    spec = importlib.util.find_spec("_understudy_devices_editable_loader")
    assert spec
    assert spec.origin
    loader = Path(spec.origin).read_text().replace(str(BUILD), str(build))
    (root / "site").mkdir()
    (root / "site" / "sitecustomize.py").write_text(loader + "\n\ninit()\n")
    return {**os.environ, "PATH": path, SKIP: str(BUILD), "PYTHONPATH": str(root / "site")}


def with_our_build(root: Path) -> dict[str, str]:
    """Return an environment in which the copy's Python uses the binaries compiled here."""
    for file in BUILD.iterdir():
        if file.is_file() and (file.suffix == ".so" or os.access(file, os.X_OK)):
            shutil.copy(file, root / "understudy_devices" / file.name)
    return {**os.environ, SKIP: str(BUILD), "PYTHONPATH": str(root)}
