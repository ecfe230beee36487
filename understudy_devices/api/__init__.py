# SPDX-License-Identifier: MIT
"""The Python functions that `understudy_devices` offers; the command line calls them.

Each function takes the command's options as keyword arguments, and returns a frozen result.
"""
