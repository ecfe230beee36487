# SPDX-License-Identifier: MIT
# The compiled core (sim/binding.py); understudy_devices/native puts types around it.
from typing import Any

ffi: Any
lib: Any
