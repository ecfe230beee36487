# SPDX-License-Identifier: MIT
"""Converts texts to SystemRDL strings, and back.

A string escapes its quotation mark.  But SystemRDL's preprocessors also replace `NAME and <% in
strings (SystemRDL 2.0, section 16).  So such a mark becomes a character reference as in HTML, which
most tools show as the character.
"""

import re

TAKEN = re.compile(r"`(?=\w)|<(?=%)|&(?=#[0-9]+;)|\r")
REFERENCE = re.compile("&#(96|60|38|13);")


def quoted(text: str) -> str:
    """The text as a string."""
    safe = TAKEN.sub(lambda found: f"&#{ord(found[0])};", text)
    return '"' + safe.replace("\\", "\\\\").replace('"', '\\"') + '"'


def plain(string: str) -> str:
    """The text that quoted() turned into this string, after the compiler has read it."""
    return REFERENCE.sub(lambda found: chr(int(found[1])), string)
