# SPDX-License-Identifier: MIT
"""The locations of sectors: tracks, recording zones, slips, and distances of the arm.

Sends no requests.
"""
