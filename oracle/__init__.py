# SPDX-License-Identifier: MIT
"""Simulated drives for tests of the project's drive model. The drives share no code with the model."""
