# SPDX-License-Identifier: MIT
"""The two manuals of a card, each one page that needs nothing else to be read, and as PDF."""
