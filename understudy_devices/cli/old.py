# SPDX-License-Identifier: MIT
"""Old spellings of options: still accepted, but not shown.

Each current name has a single meaning: `--on` names a platform, `--disk` a profile, `--device` a
device of this machine.  A current name includes the unit of the option's value.
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
    """Return the words after a command, with old option names replaced by the current names."""
    names = EVERYWHERE | OF_COMMANDS.get(command, {})
    end = words.index("--") if "--" in words else len(words)
    return [_anew(word, names) for word in words[:end]] + list(words[end:])


def _anew(word: str, names: dict[str, str]) -> str:
    name, equals, value = word.partition("=")
    return f"{names.get(name, name)}{equals}{value}"
