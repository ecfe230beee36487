# SPDX-License-Identifier: MIT
"""Texts as SystemRDL strings, and back.

A string escapes its quotation mark, but its preprocessors look into strings too, for `NAME and
<% (SystemRDL 2.0, section 16).  Such a mark becomes a character reference as in HTML, which most
tools show as the character.
"""

import re

TAKEN = re.compile(r"`(?=\w)|<(?=%)|&(?=#[0-9]+;)|\r")
REFERENCE = re.compile("&#(96|60|38|13);")


def quoted(text: str) -> str:
    """The string of a text."""
    safe = TAKEN.sub(lambda found: f"&#{ord(found[0])};", text)
    return '"' + safe.replace("\\", "\\\\").replace('"', '\\"') + '"'


def plain(string: str) -> str:
    """The text that quoted() was given, of a string that the compiler has read."""
    return REFERENCE.sub(lambda found: chr(int(found[1])), string)
