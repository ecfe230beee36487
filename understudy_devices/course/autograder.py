# SPDX-License-Identifier: MIT
"""A folder that Gradescope or Autolab runs as its autograder, as it is.

Gradescope runs setup.sh once and run_autograder for each submission, in /autograder; it hands in
submission_metadata.json and reads results/results.json.  Autolab copies the submission,
autograde-Makefile (as Makefile) and autograde.tar into one folder, runs make, and reads the scores
from the last line.  Autolab does not say who handed in, so the student's copy of variant.toml does.

The archives contain the course's secret and the assignment with its solution.
"""

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from understudy_devices import __version__
from understudy_devices.base.errors import UserError
from understudy_devices.course import repack
from understudy_devices.course.library import ASSIGNMENTS, FILE, STUDENTS, Course
from understudy_devices.course.spec import Assignment
from understudy_devices.course.toml_text import toml

HOSTS = ("gradescope", "autolab")
HANDED_IN = "handin.zip"
MADE = (1980, 1, 1, 0, 0, 0)  # the time of each file in an archive, so that its bytes repeat
PROGRAMS = "python3 python3-venv gcc libc6-dev binutils bubblewrap util-linux"
INSTALLED = "/opt/understudy"

SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, when it builds the image: choose Ubuntu 24.04 or later (Python 3.11).
set -euo pipefail
apt-get update
apt-get install -y {programs}
python3 -m venv {installed}
{installed}/bin/pip install {package}
"""
RUN = """\
#!/usr/bin/env bash
# Gradescope runs this for each submission.
root=${{AUTOGRADER:-/autograder}}
mkdir -p "$root/results"
"${{UNDERSTUDY:-{installed}/bin/understudy}}" course grade {name} "$root/submission" \\
	--course "$root/source/course" --metadata "$root/submission_metadata.json" \\
	--out "$root/results" --no-vm
# Without results.json, Gradescope says that the autograder failed, and gives no points: not even 0.
[ -e "$root/results/results.json" ]
"""
MAKEFILE = """\
all:
	tar xf autograde.tar
	sh autograde/run {handed_in}
"""
RUN_AUTOLAB = """\
#!/bin/sh
# Autolab's Makefile runs this; the last line has the scores.
"${{UNDERSTUDY:-{installed}/bin/understudy}}" course grade {name} "$1" \\
	--course autograde/course --by-variant --out autograde/report --no-vm --autolab
"""


def autograder(
    course: Course, assignment: Assignment, host: str, to: Path, wheel: Path | None = None
) -> list[str]:
    """Write the folder; return the names of its files."""
    if course.folder is None:
        raise UserError("no course here: understudy course new FOLDER makes one, with a secret")
    if to.exists():
        raise UserError(f"{to}: already there; name a new folder")
    content = _course(course, assignment)
    names = {"name": assignment.name, "installed": INSTALLED, "handed_in": HANDED_IN}
    made: dict[str, bytes]
    if host == "gradescope":
        package = f"{repack.NAME}=={__version__}"
        installed = None if wheel else repack.installed()
        packed = (wheel.name, _read(wheel)) if wheel else installed and repack.wheel(installed)
        if packed:
            package = f"/autograder/source/{packed[0]}"
            content[packed[0]] = packed[1]
        setup = SETUP.format(programs=PROGRAMS, package=package, **names)
        content |= {"setup.sh": setup.encode(), "run_autograder": RUN.format(**names).encode()}
        made = {"autograder.zip": _zip(content)}
    else:
        content["run"] = RUN_AUTOLAB.format(**names).encode()
        tar = _tar({f"autograde/{name}": data for name, data in content.items()})
        made = {"autograde-Makefile": MAKEFILE.format(**names).encode(), "autograde.tar": tar}
    try:
        to.mkdir(parents=True)
        for name, data in made.items():
            (to / name).write_bytes(data)
            (to / name).chmod(0o600)  # they contain the secret
    except OSError as error:
        raise UserError(f"{error.filename}: {error.strerror}: name another folder") from None
    return sorted(made)


def _course(course: Course, assignment: Assignment) -> dict[str, bytes]:
    """Return the files of a course folder with this assignment alone."""
    assert course.folder
    places = {f"course/{name}": course.folder / name for name in (FILE, STUDENTS)}
    for file in sorted(assignment.folder.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            inside = file.relative_to(assignment.folder).as_posix()
            places[f"course/{ASSIGNMENTS}/{assignment.name}/{inside}"] = file
    found = {name: _read(file) for name, file in places.items() if file.is_file()}
    found[f"course/{FILE}"] = toml(
        {
            "title": course.title,
            "secret": course.secret.hex(),
            "assignments": [assignment.name],
        }
    ).encode()
    return found


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None


def _mode(name: str) -> int:
    return 0o755 if Path(name).name in ("setup.sh", "run_autograder", "run") else 0o644


def _zip(content: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(content):
            info = zipfile.ZipInfo(name, MADE)
            info.external_attr = (0o100000 | _mode(name)) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content[name])
    return buffer.getvalue()


def _tar(content: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in sorted(content):
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content[name]), _mode(name)
            archive.addfile(info, io.BytesIO(content[name]))
    return buffer.getvalue()
