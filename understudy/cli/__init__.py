# SPDX-License-Identifier: MIT
"""The `understudy` command: one module a sub-command, found by its `command` object."""
