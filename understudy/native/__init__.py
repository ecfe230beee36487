# SPDX-License-Identifier: MIT
"""The compiled core and simulator: nothing outside this package imports understudy._core."""

from pathlib import Path

from understudy import _core


def binding_file() -> Path:
    """The compiled extension."""
    return Path(str(_core.__file__))
