# SPDX-License-Identifier: MIT
"""Disks and arrays: their profiles, and their timing in the units of core/."""
