# SPDX-License-Identifier: MIT
"""Choose a scheduler: for the mean response time, for the tail of the response times, or for the
throughput."""
