# SPDX-License-Identifier: MIT
"""Programs of Debian's packages for the guest, as they are installed here: each with the
libraries that it is linked with and the loader that finds them, at their own places."""

import re
import shutil
import subprocess
from pathlib import Path

from understudy.base.errors import RunFailed, UserError

LIBRARY = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)


def files(name: str, package: str = "") -> dict[str, Path]:
    """The program of that name: places in the guest, and here.  Its package has the same name
    unless another one is given.

    Raises UserError with the line that installs it if it is not here.
    """
    package = package or name
    found = shutil.which(name)
    if not found:
        raise UserError(f"no {name} here: apt-get install -y --no-install-recommends {package}")
    answer = subprocess.run(["ldd", found], capture_output=True, text=True, check=False)
    libraries = LIBRARY.findall(answer.stdout)
    if answer.returncode or not libraries or "not found" in answer.stdout:
        raise RunFailed(f"ldd does not say what {found} needs: install {package} again")
    return {f"bin/{name}": Path(found)} | {path.lstrip("/"): Path(path) for path in libraries}


def version(name: str) -> str:
    """Of the package."""
    answer = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", name], capture_output=True, text=True, check=False
    )
    return answer.stdout.strip() or "unknown"
