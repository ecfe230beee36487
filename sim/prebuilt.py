# SPDX-License-Identifier: MIT
"""prebuilt.py CHECKOUT: print the names of compiled schedulers (base/prebuilt.py).

One line per file in core/schedulers/: its name without the suffix, ":" and the name of its shared
object without the suffix.
"""

import sys

sys.path.insert(0, sys.argv[1])

from understudy_devices.base import prebuilt

for stem, name in prebuilt.names().items():
    print(f"{stem}:{name}")
