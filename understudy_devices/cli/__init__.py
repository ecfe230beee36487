# SPDX-License-Identifier: MIT
"""The `understudy` command: one module for each sub-command, found by its `command` object."""
