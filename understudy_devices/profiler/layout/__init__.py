# SPDX-License-Identifier: MIT
"""The locations of sectors: tracks, recording zones, slips, and seek distances in tracks.

This folder sends no requests.
"""
