# SPDX-License-Identifier: MIT
"""Benchmarks: what is measured is in parts/, what came out in results/, and
docs/benchmarks.md is made of both."""
