# SPDX-License-Identifier: MIT
"""A digest of all code that decides results: two results with the same digest can be compared."""

from functools import cache

from understudy_devices.base.cache import digest_of_files
from understudy_devices.base.paths import PACKAGE, ROOT
from understudy_devices.native import binding_file, program_file


@cache
def code_version() -> str:
    """Return a digest of the compiled core and simulator, their Python code, and the VM's code."""
    code = [
        file
        for part in PACKAGE.iterdir()
        if part.name not in ("api", "cli", "show", "sources")
        for file in part.rglob("*.py")
    ]
    in_vm = [
        file
        for folder in ("kernel", "guest", "host/image")
        for file in (ROOT / folder).rglob("*")
        if file.is_file()
    ]
    return digest_of_files([binding_file(), program_file(), *code, *in_vm])
