# SPDX-License-Identifier: MIT
"""All work in a team's folder is done as the folder's owner, also if root does it.

So what root makes there stays usable for the team, and no link or image that the team has put there
leads root, or a QEMU that root has started, to files that the team may not use.
"""

import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from understudy_devices.base.errors import RunFailed


@contextmanager
def acting(folder: Path) -> Iterator[None]:
    """Act as the owner of a folder; RunFailed for somebody who is neither the owner nor root."""
    status = folder.stat()
    if os.geteuid() == status.st_uid:
        yield
        return
    if os.geteuid():
        raise RunFailed(f"{folder}: only its owner, {name_of(status.st_uid)}, and root may use it")
    users, groups, more = os.getresuid(), os.getresgid(), os.getgroups()
    try:
        os.setgroups(os.getgrouplist(name_of(status.st_uid), status.st_gid))
        # The saved identity stays root's, to come back to; a program that is started has none.
        os.setresgid(status.st_gid, status.st_gid, groups[2])
        os.setresuid(status.st_uid, status.st_uid, users[2])
        yield
    finally:
        os.setresuid(*users)
        os.setresgid(*groups)
        os.setgroups(more)


def may_act(folder: Path) -> bool:
    """Return whether this user may act as the owner of a folder.

    The folder's mode does not say: on NFS, root may often not look into it, and acts as its owner.
    """
    return os.geteuid() in (0, folder.stat().st_uid)


def name_of(user: int) -> str:
    """Return the name of a user, or the number if the user has none."""
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)
