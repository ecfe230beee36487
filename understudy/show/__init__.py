# SPDX-License-Identifier: MIT
"""Tables and the report, for people."""

import logging

# On import Matplotlib complains if it can't store its list of fonts, which is not needed here.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
