# SPDX-License-Identifier: MIT
"""The papers' measurements, and ours beside them."""
