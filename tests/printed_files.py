# SPDX-License-Identifier: MIT
"""The files that a page of docs/ prints for its readers to copy."""

import re

from places import CHECKOUT

FILE = re.compile(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def printed_files(page: str) -> dict[str, str]:
    """Return the text of each block that follows a line `FILE`:, by the file's name."""
    return dict(FILE.findall((CHECKOUT / "docs" / page).read_text()))
