# SPDX-License-Identifier: MIT
"""Recorded traces: reads all formats into the same columns, and computes their statistics."""
