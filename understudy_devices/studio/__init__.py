# SPDX-License-Identifier: MIT
"""The studio: what its page (web/) needs from Python."""
