# SPDX-License-Identifier: MIT
"""The referee of drivers: runs a driver against a virtual card, and reports its mistakes."""
