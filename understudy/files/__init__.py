# SPDX-License-Identifier: MIT
"""Where an ext4 image puts its files."""
