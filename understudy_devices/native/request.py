# SPDX-License-Identifier: MIT
"""Numbers of core/request.h."""

READ, WRITE = 0, 1
OPS = ("read", "write")  # enum io_op
REASONS = ("order", "hit", "table", "expired", "waited", "burst")  # enum pick_reason
