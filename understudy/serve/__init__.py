# SPDX-License-Identifier: MIT
"""A timed disk for any guest or program: nbdkit with our filter (serve/) over a store of data."""
