# SPDX-License-Identifier: MIT
"""Cards: what a person writes in cards/NAME.yaml, checked."""
