# SPDX-License-Identifier: MIT
"""What everything else stands on: errors, paths, names and sizes, the cache."""
