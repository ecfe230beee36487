# SPDX-License-Identifier: MIT
"""Findings of probes (values with their confidence), and the profile made from these findings."""
