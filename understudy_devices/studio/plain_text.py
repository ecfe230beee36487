# SPDX-License-Identifier: MIT
"""Text from a folder that others may have made, as an answer can have it: UTF-8."""


def is_plain(name: str) -> bool:
    """Return whether a file's name is UTF-8, so that a page can show it and ask for it."""
    return plain(name) == name


def plain(text: str) -> str:
    """Return the text with `?` for what UTF-8 does not have: halves of UTF-16 pairs."""
    return text.encode(errors="replace").decode()
