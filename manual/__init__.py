# SPDX-License-Identifier: MIT
"""The manual: pages that are made from the code, man pages and the site of docs/.

    python -m manual site    writes build/site, from docs/ and pages about commands and schemas
    python -m manual man     writes build/man, a page for each command

Both are made from one description of the commands (commands.py), so they can't differ.
"""
