# SPDX-License-Identifier: MIT
"""The compiled core and simulator; only this package imports understudy_devices._core."""

from pathlib import Path

from understudy_devices import _core


def binding_file() -> Path:
    """Return the path of the compiled extension."""
    return Path(str(_core.__file__))


def program_file() -> Path:
    """Return the path of the program that runs schedulers; it is installed beside the extension."""
    return binding_file().with_name("simulate")
