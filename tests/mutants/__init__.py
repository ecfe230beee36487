# SPDX-License-Identifier: MIT
"""Mutants of the code, run by `make mutants`."""
