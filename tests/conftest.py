# SPDX-License-Identifier: MIT
"""What holds for all tests: none of them is about the host's speed."""

from hypothesis import HealthCheck, settings

settings.register_profile("any host", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any host")
