# SPDX-License-Identifier: MIT
"""Findings of probes: values with their confidence, and the profile from them.  Sends no
requests.
"""
