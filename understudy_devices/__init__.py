# SPDX-License-Identifier: MIT
"""Virtual devices that stand in for hardware you don't have.

The functions of docs/python.md are imported on first use, since that takes half a second.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from understudy_devices.api.consolidate import consolidate
    from understudy_devices.api.consolidated import Consolidated
    from understudy_devices.api.place import place
    from understudy_devices.api.placed import Placement
    from understudy_devices.api.predict import compare, predict
    from understudy_devices.api.prediction import Pick, Prediction
    from understudy_devices.api.profile import Profiled, profile
    from understudy_devices.api.sweep import Swept, sweep
    from understudy_devices.api.trace import Recorded, trace
    from understudy_devices.base.errors import RunFailed, UserError

__version__ = "0.2.0"

_HOME = {
    "Consolidated": "api.consolidated",
    "consolidate": "api.consolidate",
    "Placement": "api.placed",
    "place": "api.place",
    "compare": "api.predict",
    "predict": "api.predict",
    "Pick": "api.prediction",
    "Prediction": "api.prediction",
    "Profiled": "api.profile",
    "Recorded": "api.trace",
    "profile": "api.profile",
    "Swept": "api.sweep",
    "trace": "api.trace",
    "sweep": "api.sweep",
    "RunFailed": "base.errors",
    "UserError": "base.errors",
}

__all__ = [
    "Consolidated",
    "Pick",
    "Placement",
    "Prediction",
    "Profiled",
    "Recorded",
    "RunFailed",
    "Swept",
    "UserError",
    "compare",
    "consolidate",
    "place",
    "predict",
    "profile",
    "sweep",
    "trace",
]


def __getattr__(name: str) -> Any:
    """Import what the name belongs to."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the names of docs/python.md."""
    return sorted([*__all__, "__version__"])
