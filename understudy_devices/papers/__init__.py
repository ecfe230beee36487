# SPDX-License-Identifier: MIT
"""The papers' measurements, and comparisons with this project's measurements."""
