# SPDX-License-Identifier: MIT
"""Which scheduler to pick: for the mean response, for its tail, for the throughput."""
