# SPDX-License-Identifier: MIT
"""Cards: the specification in cards/NAME.yaml, its checks, and the C header generated from it."""
