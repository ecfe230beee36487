# SPDX-License-Identifier: MIT
"""What `understudy profile` saw, and what it made of it, as a picture.

A method's figure is in the module of its name, and nothing lists it: perform_2010.py has that of
PERFORM 2010.  It has figure(found, name); the name is the profile's.  A method without one is
drawn as an overview.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from understudy.profiler.profile_fit import Fitted
from understudy.show import picture

STYLE = {"axes.titlesize": 10, "axes.titlelocation": "left"}


def draw(found: Fitted, name: str, file: Path) -> None:
    """Write the picture; the file's ending says in which format."""
    picture.check(file)
    module = f"{__name__}.{found.method.replace('-', '_')}"
    drawing = import_module(module if find_spec(module) else f"{__name__}.overview")
    with picture.styled(STYLE):
        picture.save(drawing.figure(found, name), file)
