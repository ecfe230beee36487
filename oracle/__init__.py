# SPDX-License-Identifier: MIT
"""Drives that share no code with the model, which is judged by them."""
