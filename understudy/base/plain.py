# SPDX-License-Identifier: MIT
"""Text from strangers, fit for a terminal."""

import unicodedata

KEPT = "\n\t"
DANGEROUS = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Categories of control, formatting (that turn the direction of text, say), and line breaks."""


def one_line(text: str) -> str:
    """The same for what has to be one line: it can't go on in ours."""
    return " ".join(plain(text).split())


def plain(text: str) -> str:
    """The text with a "?" for each character that a terminal would obey and not show."""
    return "".join(
        "?" if unicodedata.category(each) in DANGEROUS and each not in KEPT else each
        for each in text
    )
