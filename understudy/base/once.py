# SPDX-License-Identifier: MIT
"""Functions that run once per argument in a command; failures are remembered like results."""

from collections.abc import Callable, Hashable
from functools import cache, wraps
from typing import TypeVar

from understudy.base.errors import RunFailed, UserError

Asked = TypeVar("Asked", bound=Hashable)
Found = TypeVar("Found")


def once(function: Callable[[Asked], Found]) -> Callable[[Asked], Found]:
    """Return a function that remembers the result or exception of `function` for each argument."""

    @cache
    def tried(asked: Asked) -> tuple[list[Found], Exception | None]:
        try:
            return [function(asked)], None
        except (RunFailed, UserError) as error:
            return [], error

    @wraps(function)
    def told(asked: Asked) -> Found:
        found, error = tried(asked)
        if error:
            raise error
        return found[0]

    return told
