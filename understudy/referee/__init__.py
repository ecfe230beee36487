# SPDX-License-Identifier: MIT
"""The referee of drivers: runs one against a virtual card and says what is wrong with it."""
