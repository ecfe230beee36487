# SPDX-License-Identifier: MIT
"""Carry out many runs in parallel, and keep them as a run folder or as a sweep in one file."""
