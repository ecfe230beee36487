# SPDX-License-Identifier: MIT
"""Text from strangers, fit for a terminal."""

import unicodedata

KEPT = "\n\t"
LINE_SHOWN = 1000
DANGEROUS = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Categories of control, formatting (that turn the direction of text, say), and line breaks."""


def one_line(text: str) -> str:
    """The same for what has to be one line: it can't go on in ours."""
    return " ".join(plain(text).split())


def shortened(line: str) -> str:
    """What is shown of a line, which may be very long."""
    rest = len(line) - LINE_SHOWN
    return line if rest <= 0 else f"{line[:LINE_SHOWN]}... ({rest:,} characters more)"


def quoted(text: str) -> str:
    """Somebody's lines, so that none can be taken for one of ours."""
    return "\n".join(f"  | {shortened(line)}" for line in text.rstrip().split("\n"))


def plain(text: str) -> str:
    """The text with a "?" for each character that a terminal would obey and not show."""
    return "".join(
        "?" if unicodedata.category(each) in DANGEROUS and each not in KEPT else each
        for each in text
    )
