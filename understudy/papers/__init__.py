# SPDX-License-Identifier: MIT
"""What the papers measured, and ours beside it."""
