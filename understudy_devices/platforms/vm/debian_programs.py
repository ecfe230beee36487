# SPDX-License-Identifier: MIT
"""Debian's programs for the guest, copied from this machine with their libraries and loader, each
to the same path.
"""

import re
import shutil
import subprocess
from pathlib import Path

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.paths import IS_X86

LIBRARY = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)


def files(name: str, package: str = "") -> dict[str, Path]:
    """Return the files of a program: for each path in the guest, the path on this machine. package:
    name of the program's package, if it is not that of the program.

    Raises UserError with the command that installs the program if it is missing, and on a machine
    whose programs do not run in a guest.
    """
    if not IS_X86:
        raise UserError(f"{name} in a VM: it is copied from this machine, which is not x86-64")
    package = package or name
    program = shutil.which(name)
    if not program:
        raise UserError(f"no {name} here: apt-get install -y --no-install-recommends {package}")
    answer = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    libraries = LIBRARY.findall(answer.stdout)
    if answer.returncode or not libraries or "not found" in answer.stdout:
        raise RunFailed(f"ldd does not say what {program} needs: install {package} again")
    return {f"bin/{name}": Path(program)} | {path.lstrip("/"): Path(path) for path in libraries}


def version(name: str) -> str:
    """Return the version of a package."""
    answer = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", name], capture_output=True, text=True, check=False
    )
    return answer.stdout.strip() or "unknown"
