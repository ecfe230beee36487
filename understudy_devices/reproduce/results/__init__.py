# SPDX-License-Identifier: MIT
"""The results: one file each (reproduce/__init__.py says what a file has)."""
