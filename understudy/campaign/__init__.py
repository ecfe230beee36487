# SPDX-License-Identifier: MIT
"""Many runs: side by side, swept into a file, kept as a run folder."""
