# SPDX-License-Identifier: MIT
"""Old spellings of options: still taken, and not shown.

One word stands for one thing: a *platform* runs (`--on`), a *disk* is a profile (`--disk`), a
*device* is of this machine (`--device`); units are in names.
"""

from collections.abc import Sequence

EVERYWHERE = {"--think": "--think-ms", "--gap": "--gap-us", "--ask": "--ask-us"}
OF_COMMANDS = {
    "consolidate": {"--depth": "--queue-depth"},
    "measure": {"--on": "--device"},
    "place": {"--devices": "--queue-depths", "--p95": "--p95-ms", "--targets": "--targets-ms"},
    "serve-disk": {"--size": "--virtual-size"},
}


def spelled_anew(command: str, words: Sequence[str]) -> list[str]:
    """The words after a command, each option by its name of today."""
    names = EVERYWHERE | OF_COMMANDS.get(command, {})
    end = words.index("--") if "--" in words else len(words)
    return [_anew(word, names) for word in words[:end]] + list(words[end:])


def _anew(word: str, names: dict[str, str]) -> str:
    name, equals, value = word.partition("=")
    return f"{names.get(name, name)}{equals}{value}"
