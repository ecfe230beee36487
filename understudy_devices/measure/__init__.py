# SPDX-License-Identifier: MIT
"""Records of a run, the measures computed from the records, and the confidence in a difference."""
