# SPDX-License-Identifier: MIT
"""Records of a run, the measures computed from them, and the confidence in a difference."""
