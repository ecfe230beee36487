# SPDX-License-Identifier: MIT
"""Simulated drives that share no code with the project's drive model; tests check the model against
them.
"""
