# SPDX-License-Identifier: MIT
"""prebuilt.py CHECKOUT: print the names of compiled schedulers and policies (base/prebuilt.py).

One line per file: its path, ":" and the name of its shared object without the suffix.
"""

import sys

sys.path.insert(0, sys.argv[1])

from understudy_devices.base import prebuilt

for file, name in prebuilt.names().items():
    print(f"{file}:{name}")
