# SPDX-License-Identifier: MIT
"""What probes have found, as values with how sure they are, and as a profile.  Asks nothing."""
