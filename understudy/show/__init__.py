# SPDX-License-Identifier: MIT
"""Tables and the report, for people."""

import logging

# When it is imported it complains if it can't keep its list of fonts, which we don't need.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
