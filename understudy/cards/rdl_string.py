# SPDX-License-Identifier: MIT
"""Converts texts to SystemRDL strings, and back.

Quotation marks in a string are escaped.  But SystemRDL's preprocessors also replace `NAME and <% in
strings (SystemRDL 2.0, section 16).  So these marks become character references as in HTML, which
most tools show as the characters.
"""

import re

TAKEN = re.compile(r"`(?=\w)|<(?=%)|&(?=#[0-9]+;)|\r")
REFERENCE = re.compile("&#(96|60|38|13);")


def quoted(text: str) -> str:
    """Return the text as a SystemRDL string."""
    safe = TAKEN.sub(lambda found: f"&#{ord(found[0])};", text)
    return '"' + safe.replace("\\", "\\\\").replace('"', '\\"') + '"'


def plain(string: str) -> str:
    """Return the text that quoted() turned into this string, after the compiler has read it."""
    return REFERENCE.sub(lambda found: chr(int(found[1])), string)
