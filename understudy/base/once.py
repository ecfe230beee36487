# SPDX-License-Identifier: MIT
"""What is tried once in a command: a failure that took its time is kept as an answer is."""

from collections.abc import Callable, Hashable
from functools import cache, wraps
from typing import TypeVar

from understudy.base.errors import RunFailed, UserError

Asked = TypeVar("Asked", bound=Hashable)
Found = TypeVar("Found")


def once(function: Callable[[Asked], Found]) -> Callable[[Asked], Found]:
    """The function, which answers the same question the same way, also if it raises."""

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
