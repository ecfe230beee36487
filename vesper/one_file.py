# SPDX-License-Identifier: MIT
"""one_file.py CHECKOUT FILE: write libvesper as one C file, for meson.build."""

import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])

from understudy_devices.base import amalgamation

Path(sys.argv[2]).write_text(amalgamation.one_file(Path(sys.argv[1])), encoding="utf-8")
