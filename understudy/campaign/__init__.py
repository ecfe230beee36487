# SPDX-License-Identifier: MIT
"""Many runs: in parallel, as a sweep in one file, or as a run folder."""
