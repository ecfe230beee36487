# SPDX-License-Identifier: MIT
"""Cards: what a person writes in cards/NAME.yaml, checked, and the C header made of it."""
