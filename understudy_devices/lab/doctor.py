# SPDX-License-Identifier: MIT
"""Measures the clocks of running guests against the host's, through their agents.

A clock that runs at a wrong rate breaks what compares time stamps, such as make on a shared folder
(dissertation, section 5.2).
"""

import time
from dataclasses import dataclass

from understudy_devices.base.errors import RunFailed
from understudy_devices.base.plain import one_line
from understudy_devices.lab import agent, first_start, holder, locks, owner, qemu_process
from understudy_devices.lab.agent import Agent
from understudy_devices.lab.store import Team

ANSWER_SECONDS = 30
SAMPLES = 5
SOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
GOOD = {"kvm": ("kvm-clock",), "tcg": ("tsc", "hpet")}
"""The clock sources that count at the host's rate, by accelerator."""
OFFSET_MS_MAX = {"kvm": 1.0}
OTHER_OFFSET_MS_MAX = 100.0
"""How wrong a clock may be beside `error_ms`; an emulated guest is interrupted for that long."""
LOCK_SECONDS = 5


@dataclass(frozen=True)
class Clock:
    """A guest's clock.

    source: the guest kernel's clock source.  offset_ms: guest minus host at the end.  drift_ms: by
    how much the offset has changed in `seconds`.  error_ms: how wrong both may be, which is half of
    the time that the agent takes to answer.  advice: what to do, or empty.
    """

    team: str
    accelerator: str
    source: str
    seconds: float
    offset_ms: float
    drift_ms: float
    error_ms: float
    advice: str


@dataclass(frozen=True)
class _Offset:
    at: float
    ms: float
    error_ms: float


def measure(teams: list[Team], seconds: float) -> tuple[list[Clock], dict[str, str]]:
    """Measure the clocks of VMs over so many seconds; return why others cannot be measured."""
    begins: dict[str, _Offset] = {}
    reasons: dict[str, str] = {}
    for team in teams:
        try:
            begins[team.name] = _with_agent(team)[0]
        except (RunFailed, OSError) as error:
            reasons[team.name] = _reason(error)
    time.sleep(seconds if begins else 0)
    clocks = []
    for team in teams:
        if team.name in begins:
            try:
                clocks.append(_compare(team, begins[team.name]))
            except (RunFailed, OSError) as error:
                reasons[team.name] = _reason(error)
    return clocks, reasons


def _compare(team: Team, begin: _Offset) -> Clock:
    end, source, accelerator = _with_agent(team)
    drift, error = end.ms - begin.ms, max(begin.error_ms, end.error_ms)
    advice = _advice(source, accelerator, end, drift, error, team)
    seconds = end.at - begin.at
    return Clock(team.name, accelerator, source, seconds, end.ms, drift, error, advice)


def _advice(
    source: str, accelerator: str, end: _Offset, drift: float, error: float, team: Team
) -> str:
    good, most = GOOD.get(accelerator, ()), OFFSET_MS_MAX.get(accelerator, OTHER_OFFSET_MS_MAX)
    if good and source not in good:
        return f"wrong clock source: boot the guest with clocksource={good[0]}"
    if abs(drift) > error + most:
        return "its clock runs at a wrong rate"
    if abs(end.ms) > end.error_ms + most:
        again = team.words("stop")
        return f"its clock is wrong: {again} --suspend and a start set it"
    return ""


def _with_agent(team: Team) -> tuple[_Offset, str, str]:
    """Return the offset of a guest's clock, its source, and the accelerator."""
    with owner.acting(team.folder), locks.folder(team.folder, LOCK_SECONDS, who=team.name):
        first_start.check(team)
        monitor = qemu_process.find(team)
        if not monitor:
            raise RunFailed("it does not run here")
        with monitor:
            if not agent.is_there(monitor):
                raise RunFailed("it has no agent")
        who = holder.of(team)
        with Agent(team.folder, ANSWER_SECONDS) as connection:
            source = one_line(connection.run(f"cat {SOURCE}", (), ANSWER_SECONDS))[:40]
            offset = min((_sample(connection) for _ in range(SAMPLES)), key=lambda it: it.error_ms)
    return offset, source, who.hardware.get("accelerator", "") if who else ""


def _sample(connection: Agent) -> _Offset:
    before, start = time.time(), time.monotonic()
    guest = connection.time_ns() / 1e9
    error = (time.monotonic() - start) / 2
    return _Offset(before, (guest - before - error) * 1e3, error * 1e3)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, RunFailed) else str(getattr(error, "strerror", error))
