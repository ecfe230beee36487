# SPDX-License-Identifier: MIT
"""Simulated drives that share no code with the drive model; tests compare the model with them."""
