# SPDX-License-Identifier: MIT
"""The benchmarks, one module each; bench/part.py says what each must have."""
