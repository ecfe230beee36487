# SPDX-License-Identifier: MIT
"""Findings of probes: values with how sure they are, and as a profile.  Sends no requests."""
