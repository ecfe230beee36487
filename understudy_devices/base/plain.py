# SPDX-License-Identifier: MIT
"""Make text from other people safe to print on a terminal."""

import unicodedata

KEPT = "\n\t"
LINE_SHOWN = 1000
DANGEROUS = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories: control, formatting (which can reverse the direction of text), and line
breaks."""


def one_line(text: str) -> str:
    """Return the text like `plain`, but on one line: line breaks and tabs become spaces."""
    return " ".join(plain(text).split())


def shortened(line: str) -> str:
    """Return the line or, if it is very long, only its beginning."""
    rest = len(line) - LINE_SHOWN
    return line if rest <= 0 else f"{line[:LINE_SHOWN]}... ({rest:,} characters more)"


def quoted(text: str) -> str:
    """Return other people's lines, marked so that they can't be mistaken for Understudy's own."""
    return "\n".join(f"  | {shortened(line)}" for line in text.rstrip().split("\n"))


def plain(text: str) -> str:
    """Return the text with a "?" in place of each character that would control the terminal."""
    return "".join(
        "?" if unicodedata.category(each) in DANGEROUS and each not in KEPT else each
        for each in text
    )
