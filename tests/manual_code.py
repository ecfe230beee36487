# SPDX-License-Identifier: MIT
"""The code examples of a programmer's manual, combined into a program."""

import re
from html import unescape

HEAD = re.compile(r"^(static [^;{]*\))\n\{", re.MULTILINE)


def code(page: str) -> str:
    """Return the page's code, with declarations in front so that functions may be called before
    their definition."""
    blocks = [unescape(text) for text in re.findall(r"<pre><code>(.*?)</code></pre>", page, re.S)]
    heads = [f"{head};" for block in blocks for head in HEAD.findall(block)]
    return "\n".join([blocks[0], *heads, *blocks[1:]])
