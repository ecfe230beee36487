# SPDX-License-Identifier: MIT
"""Recorded traces, read into one table."""
