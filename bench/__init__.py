# SPDX-License-Identifier: MIT
"""Benchmarks: parts/ has the measurements, results/ their results; both make docs/benchmarks.md."""
