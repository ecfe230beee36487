# SPDX-License-Identifier: MIT
"""Virtual devices that stand in for hardware you don't have."""

__version__ = "0.1.0"
