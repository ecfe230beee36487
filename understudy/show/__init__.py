# SPDX-License-Identifier: MIT
"""Tables and the report, for people."""
