# SPDX-License-Identifier: MIT
"""Disks and arrays: profiles, and their times in the units of core/."""
