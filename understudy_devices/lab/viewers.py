# SPDX-License-Identifier: MIT
"""Who looks at a team's screen, and since when; and who has looked: the team can read both.

Each viewer is a file in the team's folder, `viewer-RANDOM.json`, which counts as long as it is
locked.  The kernel drops the lock when the process ends, however it ends; the next look at the list
removes the file.  `visits.log` has a line for each who comes, goes or takes a picture, and for each
command for this team by somebody who is not of it, so that what a teacher does is seen also
afterwards.  Nobody looks at the screen who cannot be listed and logged.
"""

import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from understudy_devices.base import regular_file
from understudy_devices.base.errors import RunFailed
from understudy_devices.base.plain import one_line
from understudy_devices.lab import holder, owner
from understudy_devices.lab.store import Team

LOG = "visits.log"
PREFIX, SUFFIX = "viewer-", ".json"
LISTED_MAX = 100
BYTES_MAX = 4096
LETTERS_MAX = 64


@dataclass(frozen=True)
class Viewer:
    """since: seconds since 1970.  of_team: whether the user is the team's, and no teacher."""

    user: str
    since: float
    of_team: bool

    @property
    def words(self) -> str:
        """Return who it is, and since when."""
        begun = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.since))
        return f"{self.user}{'' if self.of_team else ' (not of the team)'} since {begun}"


@contextmanager
def joined(team: Team) -> Iterator[None]:
    """List and log this user as a viewer until the block ends; RunFailed if that fails.

    The block runs as the user who called, and may be left at any time.
    """
    with owner.acting(team.folder):
        file, descriptor = _entered(team)
    try:
        note(team, "joined")
        yield
    finally:
        with suppress(OSError, RunFailed), owner.acting(team.folder):
            file.unlink(missing_ok=True)
        os.close(descriptor)
        with suppress(RunFailed):  # the VM's disk may be full meanwhile
            note(team, "left")


def now(team: Team) -> list[Viewer]:
    """Return who looks at the screen now, the first of them first; forget those who are gone."""
    with owner.acting(team.folder):
        paths = islice(team.folder.glob(f"{PREFIX}*{SUFFIX}"), LISTED_MAX)
        return sorted(filter(None, map(_living, paths)), key=lambda each: each.since)


def is_of_team(team: Team) -> bool:
    """Return whether this user is the team's, and no teacher, also while root acts as the team."""
    return os.getresuid()[2] == team.folder.stat().st_uid


def note(team: Team, what: str) -> None:
    """Write into the team's log what this user does now; RunFailed if that fails."""
    line = f"{time.strftime('%Y-%m-%d %H:%M:%S %z')} {holder.me()} {what}\n"
    try:
        with owner.acting(team.folder), regular_file.to_append_to(team.folder / LOG) as log:
            log.write(line.encode())
    except OSError as error:
        raise _not_noted(team, error) from None


def _entered(team: Team) -> tuple[Path, int]:
    """Make this viewer's file, and lock it; return both.

    A look at the list may remove the file before it is locked: then try again.
    """
    viewer = Viewer(holder.me(), time.time(), is_of_team(team))
    while True:
        path = team.folder / f"{PREFIX}{secrets.token_hex(6)}{SUFFIX}"
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            descriptor = os.open(path, flags, 0o600)
        except OSError as error:
            raise _not_noted(team, error) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink:
                os.write(descriptor, json.dumps(asdict(viewer)).encode())
                return path, descriptor
        except OSError as error:
            path.unlink(missing_ok=True)
            os.close(descriptor)
            raise _not_noted(team, error) from None
        os.close(descriptor)


def _living(path: Path) -> Viewer | None:
    """Return the viewer whose file this is; None, and remove the file, if nobody locks it."""
    try:
        with regular_file.opened(path) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # NFS: it is open to read
            except BlockingIOError:
                return _read(file.read(BYTES_MAX))
            path.unlink(missing_ok=True)
    except OSError:  # it is gone, or no file
        pass
    return None


def _read(content: bytes) -> Viewer | None:
    """Return the viewer that a file names, which the team may have written itself."""
    try:
        fields = json.loads(content)
        user, since, of_team = (fields[name] for name in ("user", "since", "of_team"))
        time.localtime(since)
        return Viewer(one_line(user)[:LETTERS_MAX], float(since), of_team is True)
    except (ValueError, KeyError, TypeError, OverflowError, OSError, RecursionError):
        return None


def _not_noted(team: Team, error: OSError) -> RunFailed:
    return RunFailed(
        f"{team.folder}: who looks at a team's VM is written there, and that fails: "
        f"{error.strerror}"
    )
