# SPDX-License-Identifier: MIT
"""Caches the results of functions, and also their failures, until the command ends."""

from collections.abc import Callable, Hashable
from functools import cache, wraps
from typing import TypeVar

from understudy_devices.base.errors import RunFailed, UserError

Asked = TypeVar("Asked", bound=Hashable)
Found = TypeVar("Found")


def once(function: Callable[[Asked], Found]) -> Callable[[Asked], Found]:
    """Return `function` with a cache of results, UserErrors and RunFaileds, by argument."""

    @cache
    def tried(argument: Asked) -> tuple[list[Found], Exception | None]:
        try:
            return [function(argument)], None
        except (RunFailed, UserError) as error:
            return [], error

    @wraps(function)
    def told(argument: Asked) -> Found:
        results, error = tried(argument)
        if error:
            raise error
        return results[0]

    return told
