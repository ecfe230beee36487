# SPDX-License-Identifier: MIT
"""Drives that share no code with the drive model; tests check the model against them."""
