# SPDX-License-Identifier: MIT
"""Mutation tests of the code, run by `make mutants`."""
