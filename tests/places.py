# SPDX-License-Identifier: MIT
"""The checkout that contains these tests; the package under test may be installed elsewhere."""

from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
