# SPDX-License-Identifier: MIT
"""The code of a programmer's manual, put together to a program."""

import re
from html import unescape

HEAD = re.compile(r"^(static [^;{]*\))\n\{", re.MULTILINE)


def code(page: str) -> str:
    """The page's code as a program has it: functions may be called before they are shown."""
    blocks = [unescape(found) for found in re.findall(r"<pre><code>(.*?)</code></pre>", page, re.S)]
    heads = [f"{head};" for block in blocks for head in HEAD.findall(block)]
    return "\n".join([blocks[0], *heads, *blocks[1:]])
