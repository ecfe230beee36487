# SPDX-License-Identifier: MIT
"""Benchmarks: parts/ holds the measurements, results/ their latest results, and page.py writes
docs/benchmarks.md.
"""
