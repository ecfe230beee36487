# SPDX-License-Identifier: MIT
"""The type of options and arguments whose values a shell completes: names of disks, cards ...

A value is text: a name, a list of names with commas between them, or a file.
"""

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType


class Names(StringParamType):
    """Text, for which a shell proposes the names that a function returns."""

    def __init__(self, names: Callable[[], Iterable[str]]) -> None:
        self._names = names

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Propose names that continue the last one of the list; if there are none, the shell
        proposes files."""
        before, comma, last = incomplete.rpartition(",")
        names = [name for name in self._names() if name.startswith(last)]
        if not names:
            return [CompletionItem(incomplete, type="file")]
        return [CompletionItem(f"{before}{comma}{name}") for name in names]
