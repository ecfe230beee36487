# SPDX-License-Identifier: MIT
"""Detailed drives, the oracle of the drive model; see detailed.h."""
