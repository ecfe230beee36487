# SPDX-License-Identifier: MIT
"""Memory that another process maps too: a file without a name."""

import os
from typing import Any

from understudy._core import ffi, lib
from understudy.base.errors import RunFailed


def new_file(size: int) -> int:
    """A descriptor of so many zero bytes."""
    file = os.memfd_create("understudy")
    try:
        os.ftruncate(file, size)
    except OSError as error:
        os.close(file)
        raise RunFailed(f"no memory for {size:,} bytes: {error.strerror}") from error
    return file


def mapped(file: int, size: int) -> Any:
    """Its bytes; they stay mapped as long as what is returned lives."""
    memory = lib.map_shared(file, size)
    if memory == ffi.NULL:
        raise RunFailed(f"no memory for {size:,} bytes; take fewer requests")
    return ffi.gc(memory, lambda found: lib.munmap(found, size), size)
