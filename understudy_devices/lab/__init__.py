# SPDX-License-Identifier: MIT
"""A virtual lab: a class of VMs, one for each team, cloned from one sealed image (docs/lab.md)."""
