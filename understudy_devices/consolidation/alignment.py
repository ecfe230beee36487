# SPDX-License-Identifier: MIT
"""VMs at their own times of day: the window in which all their traces have requests.

The times are those of the traces' clocks, which are taken to be the same clock.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from understudy_devices.base.errors import UserError
from understudy_devices.traces.form import Form
from understudy_devices.traces.read import recorded, usable
from understudy_devices.traces.trace import Trace

CLOCK, BEGIN = "clock", "begin"
NS_PER_S = 10**9


@dataclass(frozen=True)
class Window:
    """A time on the traces' clocks: from begin_ns to before end_ns."""

    begin_ns: int
    end_ns: int

    def __str__(self) -> str:
        """Return the limits as words, in seconds."""
        return f"{self.begin_ns / NS_PER_S:,.3f} s to {self.end_ns / NS_PER_S:,.3f} s"


def window(traces: Mapping[str, list[str]], form: Form) -> Window:
    """Return the time from the latest begin to the earliest end of the VMs' traces.

    traces: each VM's traces. Raise a UserError if a VM has several, or if there is no such time.
    """
    own = {name: _span(name, files, form) for name, files in traces.items()}
    latest = max(own, key=lambda name: own[name].begin_ns)
    earliest = min(own, key=lambda name: own[name].end_ns)
    common = Window(own[latest].begin_ns, own[earliest].end_ns)
    if common.end_ns <= common.begin_ns:
        raise UserError(
            f"--align clock: {earliest} has requests from {own[earliest]} of its clock, and "
            f"{latest} from {own[latest]}, so never both; take traces of the same time, or leave "
            "the option out"
        )
    return common


def cut(trace: Trace, window: Window | None) -> Trace:
    """Return the requests in the window, all if it is None; UserError if there are none."""
    if window is None:
        return trace
    part = trace.between(window.begin_ns, window.end_ns)
    if not len(part):
        raise UserError(
            f"--align clock: {trace.name}: no request from {window}, the time that all traces have"
        )
    return part


def _span(name: str, files: list[str], form: Form) -> Window:
    if len(files) > 1:
        raise UserError(
            f"--align clock: {name} has {len(files)} traces, and takes one: name it, as "
            f"{name}={Path(files[0])}"
        )
    trace = usable(recorded(files[0], form))
    return Window(trace.began_ns, trace.began_ns + int(trace.arrival_ns[-1]) + 1)
