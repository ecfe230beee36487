# SPDX-License-Identifier: MIT
"""Records of a run, the measures read off them, and how sure a difference is."""
