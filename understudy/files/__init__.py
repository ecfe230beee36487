# SPDX-License-Identifier: MIT
"""ext4 images, and the places of their files."""
