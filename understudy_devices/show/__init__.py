# SPDX-License-Identifier: MIT
"""Tables and the report, for people."""

import logging

# Matplotlib's warning that it can't store its list of fonts is suppressed, since the list is not
# needed.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
