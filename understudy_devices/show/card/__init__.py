# SPDX-License-Identifier: MIT
"""The two manuals of a card, each as one self-contained page and as PDF."""
