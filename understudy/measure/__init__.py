# SPDX-License-Identifier: MIT
"""Records of a run, the measures read off them, and which scheduler is better."""
