# SPDX-License-Identifier: MIT
"""Changes of a clone while its VM does not run: snapshots, undo, reset, a new base.

Each change replaces `disk.qcow2` by a new overlay in one step, the renaming of a file.  A snapshot
is the former clone under another name, below the new one.  If a command is killed between the two
steps of a change, an image has two names; the next command removes the second one.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from understudy_devices.base import scratch
from understudy_devices.base.catalog import unknown
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.lab import (
    base_image,
    first_start,
    holder,
    locks,
    memory,
    owner,
    qcow2,
    qemu_process,
    state_file,
    store,
)
from understudy_devices.lab.base_image import Base, Source
from understudy_devices.lab.store import BASES, Lab, Team
from understudy_devices.lab.students import TEAM, TEAM_RULE

LOCK_SECONDS = 60
PREFIX, SUFFIX = "snapshot-", ".qcow2"
OLD = "old.qcow2"
"""The clone on the former base, which the VM has as a second, read-only disk."""
NOT_YET = {"prelaunch", "inmigrate"}


def snapshots(team: Team) -> list[str]:
    """Return the names of a team's snapshots, oldest first."""
    paths = sorted(team.folder.glob(f"{PREFIX}*{SUFFIX}"), key=lambda path: path.stat().st_mtime_ns)
    return [path.name.removeprefix(PREFIX).removesuffix(SUFFIX) for path in paths]


def has_old(team: Team) -> bool:
    """Return whether the team still has the clone on the former base."""
    return (team.folder / OLD).exists()


def take(team: Team, label: str) -> None:
    """Keep the clone's present state under a name."""
    if not TEAM.fullmatch(label):
        raise UserError(f'snapshot "{label}": write {TEAM_RULE}')
    with _changing(team):
        refuse_suspended(team)
        target = _path(team, label)
        if target.exists():
            raise UserError(f"{team.name} has a snapshot {label}: take another name")
        if len(team.images()) >= store.IMAGES_MAX:
            below = sum(image.name.startswith(PREFIX) for image in team.images())
            raise RunFailed(
                f"{team.name}: its clone is based on {below} snapshots, and cannot be on more: "
                f"{team.words('undo')} goes back to one of them"
            )
        size = _virtual_bytes(team.disk)
        target.hardlink_to(team.disk)
        store.replace_clone(team, target.name, size)


def undo(team: Team, label: str | None) -> str:
    """Go back to a snapshot, or to the one below the clone; return its name.

    What was written since is gone; the snapshot stays.
    """
    with _changing(team):
        chosen = label or _snapshot_below(team)
        names = snapshots(team)
        if chosen not in names:
            raise UserError(unknown("snapshot", chosen, names))
        path = _path(team, chosen)
        store.replace_clone(team, path.name, _virtual_bytes(path))
        memory.drop(team)
        return chosen


def reset(team: Team) -> None:
    """Give the team a new clone of its base, also in place of a damaged one; snapshots stay."""
    with _changing(team):
        try:
            base = team.base()
        except RunFailed:
            base = team.lab.bases()[-1]
        _onto(team, base)
        memory.drop(team)


def forget(team: Team, label: str) -> None:
    """Remove a snapshot; RunFailed if the clone or another snapshot needs it."""
    with _changing(team):
        path = _path(team, label)
        if label not in snapshots(team):
            raise UserError(unknown("snapshot", label, snapshots(team)))
        for other in team.folder.glob(f"*{SUFFIX}"):
            if other != path and qcow2.backing_of(other) == path.name:
                needs = other.name.removeprefix(PREFIX).removesuffix(SUFFIX)
                what = "the clone needs it" if other == team.disk else f"{needs} needs it"
                raise RunFailed(f"{team.name}: snapshot {label}: {what}; undo or drop that first")
        path.unlink()


def add_base(lab: Lab, source: Source) -> Base:
    """Seal a new base in the lab; teams stay where they are."""
    source.check()
    with locks.folder(lab.folder / BASES, LOCK_SECONDS, who=lab.name):
        number = int(lab.bases()[-1].folder.name) + 1
        final = lab.folder / BASES / str(number)
        with scratch.folder(".base.", final.parent) as folder:
            base_image.seal(source, folder / "new")
            (folder / "new").rename(final)
        state_file.sync(final.parent)
        return base_image.read(final)


def rebase(team: Team, base: Base) -> bool:
    """Give the team a clone of another base; return False if it has one.

    The former clone stays beside it, until `drop_old`.
    """
    with _changing(team):
        old = team.folder / OLD
        if team.base().folder == base.folder.resolve():
            return False
        if old.exists():
            drops = team.words("drop")
            raise RunFailed(f"{team.name} has a clone of an earlier base: {drops} removes that")
        refuse_suspended(team)
        old.hardlink_to(team.disk)
        _onto(team, base)
        return True


def drop_old(team: Team) -> None:
    """Remove the clone on the former base."""
    with _changing(team):
        if not has_old(team):
            raise UserError(f"{team.name} has no clone of an earlier base")
        refuse_suspended(team)
        (team.folder / OLD).unlink()


def sweep(team: Team) -> None:
    """Remove the second name of a clone, which a killed command has left."""
    with suppress(FileNotFoundError):
        inode = team.disk.stat().st_ino
        for path in (*team.folder.glob(f"{PREFIX}*{SUFFIX}"), team.folder / OLD):
            with suppress(FileNotFoundError):
                if path.stat().st_ino == inode:
                    path.unlink()


@contextmanager
def resting(team: Team) -> Iterator[None]:
    """Hold the lock of a team's folder; RunFailed if its VM runs."""
    with owner.acting(team.folder), locks.folder(team.folder, LOCK_SECONDS, who=team.name):
        if monitor := qemu_process.find(team):
            with monitor:
                if monitor.status() not in NOT_YET:
                    raise RunFailed(_runs(team))
                qemu_process.end(monitor)
        with _image_lock(team):
            first_start.sweep(team)
            sweep(team)
        yield


@contextmanager
def _changing(team: Team) -> Iterator[None]:
    """Hold all locks of a clone; RunFailed if its VM runs."""
    with resting(team), _image_lock(team):
        yield


@contextmanager
def _image_lock(team: Team) -> Iterator[None]:
    with ExitStack() as held:
        try:
            held.enter_context(locks.image(team.disk))
        except locks.Held:
            raise RunFailed(_runs(team)) from None
        except FileNotFoundError:  # a reset makes it anew
            pass
        yield


def refuse_suspended(team: Team) -> None:
    """Raise RunFailed if the change would cost a suspended VM its memory."""
    if memory.exists(team):
        raise RunFailed(f"{team.name} is suspended: {team.words('start')}, then stop it")


def _runs(team: Team) -> str:
    who = holder.of(team)
    by = f", by {who.words}" if who else ""
    return f"{team.name} runs{by}: {team.words('stop')} first"


def _onto(team: Team, base: Base) -> None:
    store.replace_clone(team, store.relative_base(base.folder.name), base.virtual_bytes)


def _snapshot_below(team: Team) -> str:
    match = re.fullmatch(f"{PREFIX}(.+){re.escape(SUFFIX)}", qcow2.backing_of(team.disk))
    if not match:
        raise UserError(
            f"{team.name} has no snapshot below its clone: name one, or {team.words('reset')} goes "
            "back to the base"
        )
    return match[1]


def _path(team: Team, label: str) -> Path:
    return team.folder / f"{PREFIX}{label}{SUFFIX}"


def _virtual_bytes(image: Path) -> int:
    with qcow2.Image(image) as opened:
        return opened.header.virtual_bytes
