# SPDX-License-Identifier: MIT
"""The measurements of `understudy profile` and the fitted profile, as a picture.

The module with a method's name has that method's figure; these modules are found without a list:
perform_2010.py has the figure of PERFORM 2010.  A module has a function figure(found, name); `name`
is the profile's name.  The figure of a method without a module is an overview.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from matplotlib.figure import Figure

from understudy_devices.profiler.profile_fit import Fitted
from understudy_devices.show import picture

STYLE = {"axes.titlesize": 10, "axes.titlelocation": "left"}


def draw(fit: Fitted, name: str, file: Path) -> None:
    """Write the picture; the file's ending chooses the format."""
    picture.check(file)
    with picture.styled(STYLE):
        picture.save(figure(fit, name), file)


def figure(fit: Fitted, name: str) -> Figure:
    """Draw the figure of the profile's method, in the current style."""
    module = f"{__name__}.{fit.method.replace('-', '_')}"
    drawing = import_module(module if find_spec(module) else f"{__name__}.overview")
    drawn: Figure = drawing.figure(fit, name)
    return drawn
