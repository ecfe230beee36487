# SPDX-License-Identifier: MIT
"""Converts texts to SystemRDL strings, and back.

Quotation marks in a string are escaped.  But SystemRDL's preprocessors also replace `NAME and <%
inside strings (SystemRDL 2.0, section 16).  So the first character of each is written as a
character reference, as in HTML, which most tools display correctly.
"""

import re

TAKEN = re.compile(r"`(?=\w)|<(?=%)|&(?=#[0-9]+;)|\r")
REFERENCE = re.compile("&#(96|60|38|13);")


def quoted(text: str) -> str:
    """Return the text as a SystemRDL string."""
    safe = TAKEN.sub(lambda match: f"&#{ord(match[0])};", text)
    return '"' + safe.replace("\\", "\\\\").replace('"', '\\"') + '"'


def plain(string: str) -> str:
    """Return the original text of a string that quoted() wrote and the compiler has read."""
    return REFERENCE.sub(lambda match: chr(int(match[1])), string)
