# SPDX-License-Identifier: MIT
"""Where sectors are: tracks, recording zones, slips, and how far the arm goes.  Asks nothing."""
