# SPDX-License-Identifier: MIT
"""Where sectors are: tracks, recording zones, slips, and how far the arm moves.

Sends no requests.
"""
