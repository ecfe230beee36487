# SPDX-License-Identifier: MIT
"""A limit of a team's VM: the team's own, or else the lab's.  It counts at once."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from understudy_devices.lab import holder, owner, state_file, store
from understudy_devices.lab.monitor import Gone, Monitor
from understudy_devices.lab.store import TEAM_FILE, Lab, Team

ANSWER_SECONDS = 10


@dataclass(frozen=True)
class Limit:
    """key: its name in team.json and among the lab's settings.  noun: as people call it.  enforce:
    holds a running VM to it."""

    key: str
    noun: str
    enforce: Callable[[Team, Monitor], None]

    def of(self, team: Team) -> int | None:
        """Return the team's limit: its own, or the lab's; None if there is none."""
        own = state_file.optional(team.folder / TEAM_FILE).get(self.key)
        lab: int | None = getattr(team.lab.settings, self.key)
        return own if isinstance(own, int) else lab

    def set_for_team(self, team: Team, most: int) -> list[str]:
        """Give a team its own limit, which counts at once, also for a VM that runs.

        Return what to say of a VM that runs on another host, for which it counts at its next start.
        """
        with owner.acting(team.folder):
            content = state_file.required(team.folder / TEAM_FILE)
            state_file.write(team.folder / TEAM_FILE, {**content, self.key: most})
        return self._enforce_now([team])

    def set_for_lab(self, lab: Lab, most: int) -> list[str]:
        """Give all teams without a limit of their own another one; return as `set_for_team`."""
        own: dict[str, Any] = {self.key: most}
        settings = replace(lab.settings, **own)
        store.write_settings(lab.folder, settings)
        return self._enforce_now(Lab(lab.folder, settings).teams())

    def _enforce_now(self, teams: list[Team]) -> list[str]:
        notes = []
        for team in teams:
            with owner.acting(team.folder):
                if holder.is_elsewhere(team):
                    why = holder.why_not(team, "stop")
                    notes.append(f"{why}; {self.noun} counts at the VM's next start")
                    continue
                with suppress(Gone), Monitor(team.folder, ANSWER_SECONDS) as monitor:
                    self.enforce(team, monitor)
        return notes
