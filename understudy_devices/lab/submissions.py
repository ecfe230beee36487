# SPDX-License-Identifier: MIT
"""What teams hand in from inside their VMs: archives with the host's time and a checksum.

    teams/TEAM/submissions/ASSIGNMENT-1.tar.gz     as the guest has sent it; it is not unpacked here
    teams/TEAM/submissions/ASSIGNMENT-1.json       its record; the submission counts from now on

The guest connects to an address of QEMU's user network, and QEMU starts receive.py for each
connection.  One of a team's is received at a time, and any other is refused at once, so that a
guest can fill neither the host's disk nor its memory.
"""

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from understudy_devices.base import regular_file
from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import owner, state_file
from understudy_devices.lab.receive import FOLDER
from understudy_devices.lab.store import Team
from understudy_devices.lab.students import TEAM as NAME
from understudy_devices.lab.students import TEAM_RULE as NAME_RULE

ADDRESS, PORT = "10.0.2.100", 9090
BYTES_MAX = 64 * 2**20
"""The largest archive."""
ALL_BYTES_MAX = 2**30
"""The most that a team's archives may take together."""
COUNT_MAX = 1000
"""The most archives of a team."""
FILES_MAX = 3 * COUNT_MAX
"""The most files in a team's folder of submissions; a team may own it, and put others there."""
RECEIVING = ".receiving-"
ARCHIVE, RECORD = ".tar.gz", ".json"
NUMBERED = re.compile(r"(.+)-([1-9][0-9]*)\.json")
RECORD_BYTES_MAX = 2**16
SECONDS_MAX = 2**33
"""A year that Python can print."""
SHA256 = re.compile("[0-9a-f]{64}")
CHUNK_BYTES = 2**16
GUEST_PROGRAM = f"""#!/bin/bash
# submit ASSIGNMENT FILE...: hands in files and folders.
set -euo pipefail
if [ $# -lt 2 ]; then
	echo "usage: submit ASSIGNMENT FILE..." >&2
	exit 2
fi
assignment=$1
shift
archive=$(mktemp)
trap 'rm -f "$archive"' EXIT
tar -czf "$archive" -- "$@"
if ! {{ exec 3<>/dev/tcp/{ADDRESS}/{PORT}; }} 2>/dev/null; then
	echo "submit: nobody listens at {ADDRESS}: tell your teacher" >&2
	exit 1
fi
printf 'submit %s %d\\n' "$assignment" "$(stat -c %s "$archive")" >&3
cat "$archive" >&3 2>/dev/null || :
IFS= read -r answer <&3 || answer="refused: no answer: submit again"
echo "$answer"
case $answer in
"received "*" $(sha256sum <"$archive" | cut -d ' ' -f 1)") ;;
*) exit 1 ;;
esac
"""


@dataclass(frozen=True)
class Submission:
    """What a team has handed in.

    seconds: when, since 1970, by the host's clock.  bytes, sha256: of the archive as received.
    """

    team: str
    assignment: str
    number: int
    seconds: float
    bytes: int
    sha256: str

    @property
    def name(self) -> str:
        """Return the name of the archive."""
        return f"{self.assignment}-{self.number}{ARCHIVE}"


def forward() -> str:
    """Return QEMU's rule: a connection to the address starts receive.py, in the team's folder."""
    words = (sys.executable, "-P", "-m", "understudy_devices.lab.receive")
    quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
    return f"tcp:{ADDRESS}:{PORT}-cmd:{quoted}"


def receive(place: Path, line: bytes, stream: BinaryIO, seconds: float) -> str:
    """Keep an archive that follows the line `submit ASSIGNMENT BYTES`; return the answer.

    place: the folder of the team's submissions, locked; what receivers that were killed have left
    there is removed.  seconds: the time since 1970.  RunFailed if nothing was kept.
    """
    for left in place.glob(f"{RECEIVING}*"):
        left.unlink()
    words = line.decode(errors="replace").split()
    if len(words) != 3 or words[0] != "submit" or not re.fullmatch("[0-9]{1,12}", words[2]):
        raise RunFailed("the first line has to be: submit ASSIGNMENT BYTES")
    assignment, size = words[1], int(words[2])
    if not NAME.fullmatch(assignment):
        raise RunFailed(f"name of the assignment: write {NAME_RULE}")
    return _receive(place, assignment, size, stream, seconds)


def _receive(place: Path, assignment: str, size: int, stream: BinaryIO, seconds: float) -> str:
    sizes = [each.stat().st_size for each in place.glob(f"*{ARCHIVE}")]
    if not 0 < size <= BYTES_MAX or sum(sizes) + size > ALL_BYTES_MAX:
        raise RunFailed(
            f"{size} bytes: an archive may have 1 to {BYTES_MAX}, and all of a team "
            f"{ALL_BYTES_MAX} together"
        )
    if len(sizes) >= COUNT_MAX:
        raise RunFailed(f"{COUNT_MAX} archives are there, and more are not taken")
    fresh = place / f"{RECEIVING}{os.getpid()}"
    try:
        with fresh.open("xb") as file:
            sha256 = _copy(stream, file, size)
        number = _place(fresh, place, assignment)
    finally:
        fresh.unlink(missing_ok=True)
    content = {"seconds": seconds, "bytes": size, "sha256": sha256}
    try:
        state_file.write(place / f"{assignment}-{number}{RECORD}", content)
    except OSError:
        (place / f"{assignment}-{number}{ARCHIVE}").unlink()
        raise
    return f"received {assignment} number {number}, {size} bytes, SHA-256 {sha256}"


def of(team: Team) -> list[Submission]:
    """Return what a team has handed in, oldest first; RunFailed if there are too many files."""
    with owner.acting(team.folder):
        return sorted(_of(team), key=lambda each: (each.seconds, each.assignment, each.number))


def archive(team: Team, submission: Submission) -> bytes:
    """Return an archive; RunFailed if it is not as it was received."""
    path = team.folder / FOLDER / submission.name
    with owner.acting(team.folder):
        try:
            content = regular_file.read(path, BYTES_MAX)
        except OSError as error:
            raise RunFailed(f"{path}: {error.strerror or error}") from None
    if hashlib.sha256(content).hexdigest() != submission.sha256:
        raise RunFailed(f"{path}: changed since it was received")
    return content


def record(submission: Submission) -> bytes:
    """Return what is known of a submission, as JSON."""
    return json.dumps(asdict(submission), indent=1).encode() + b"\n"


def _of(team: Team) -> Iterator[Submission]:
    folder = team.folder / FOLDER
    for name in _names(folder):
        match = NUMBERED.fullmatch(name)
        if not match or not NAME.fullmatch(match[1]):
            continue
        content = state_file.optional(folder / name, RECORD_BYTES_MAX)
        seconds, size, sha256 = (content.get(key) for key in ("seconds", "bytes", "sha256"))
        if (
            isinstance(seconds, float)
            and 0 <= seconds < SECONDS_MAX
            and isinstance(size, int)
            and 0 < size <= BYTES_MAX
            and isinstance(sha256, str)
            and SHA256.fullmatch(sha256)
        ):
            yield Submission(team.name, match[1], int(match[2]), seconds, size, sha256)


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, FILES_MAX + 1)]
    except OSError:  # nothing was handed in, or the team has removed it
        return []
    if len(names) > FILES_MAX:
        raise RunFailed(
            f"{folder}: more than {FILES_MAX:,} files, so it is not read: remove what nobody has "
            "handed in"
        )
    return names


def _copy(stream: BinaryIO, file: BinaryIO, size: int) -> str:
    """Copy so many bytes; return their SHA-256."""
    sha, left = hashlib.sha256(), size
    while left:
        data = stream.read(min(CHUNK_BYTES, left))
        if not data:
            raise RunFailed(f"only {size - left} of {size} bytes have arrived: submit again")
        sha.update(data)
        file.write(data)
        left -= len(data)
    file.flush()
    os.fsync(file.fileno())
    return sha.hexdigest()


def _place(fresh: Path, place: Path, assignment: str) -> int:
    """Give a file the next free number of the assignment."""
    number = 1
    while True:
        try:
            (place / f"{assignment}-{number}{ARCHIVE}").hardlink_to(fresh)
        except FileExistsError:
            number += 1
        else:
            return number
