# SPDX-License-Identifier: MIT
"""The commit of the code: in a wheel a file that the build writes, in a checkout what git says."""

import subprocess

from understudy_devices.base.paths import INSTALLED, PACKAGE, ROOT

FILE = PACKAGE / "commit"
DESCRIBE = ("describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")  # as in meson.build


def commit() -> str:
    """Return the commit, with "-dirty" if files differ from it; empty if it is unknown."""
    try:
        if INSTALLED:
            return FILE.read_text(encoding="utf-8").strip()
        if not (ROOT / ".git").exists():
            return ""
        command = ["git", "-C", str(ROOT), *DESCRIBE]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
