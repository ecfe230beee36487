# SPDX-License-Identifier: MIT
"""Detailed drives, which serve as an oracle for the drive model; see detailed.h."""
