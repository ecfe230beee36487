# SPDX-License-Identifier: MIT
"""The base that all other packages use: errors, paths, names, sizes, the cache."""
