# SPDX-License-Identifier: MIT
"""ext4 images, and the locations of their files on the disk."""
