# SPDX-License-Identifier: MIT
"""Where the built page is: in an installed package, or in a checkout after `make studio`."""

from pathlib import Path

from understudy_devices.base.errors import UserError

PACKAGED = Path(__file__).parent / "page"
CHECKOUT = Path(__file__).parents[2]


def folder() -> Path:
    """Return the folder of the page's files; UserError if it was not built."""
    for built in (PACKAGED, CHECKOUT / "build" / "studio"):
        if (built / "index.html").is_file():
            return built
    raise UserError("the page is not built: run `make studio` in the checkout")
