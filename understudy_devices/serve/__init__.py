# SPDX-License-Identifier: MIT
"""A timed disk for any guest or program: nbdkit with this project's filter (serve/) on top of a
plug-in that stores the data."""
