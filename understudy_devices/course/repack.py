# SPDX-License-Identifier: MIT
"""Pack an installed package as a wheel again, so that another machine can install the same one.

The metadata lists what was installed.  What the installer made itself (bytecode, scripts for entry
points, notes about where it got the package) is left out; the installer there makes it anew.
"""

import base64
import csv
import hashlib
import io
import os
import zipfile
from collections.abc import Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath

NAME = "understudy-devices"
MADE = (1980, 1, 1, 0, 0, 0)  # the time of each file, so that the wheel's bytes repeat
RECORD = "RECORD"
INSTALLERS = {RECORD, "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json"}
SCRIPTS = "bin"


def installed() -> Distribution | None:
    """Return the distribution that is running, if it is installed from a wheel."""
    try:
        found = distribution(NAME)
    except PackageNotFoundError:
        return None
    package = PurePosixPath(__name__.partition(".")[0], "__init__.py")
    return found if package in map(PurePosixPath, found.files or ()) else None


def wheel(found: Distribution) -> tuple[str, bytes]:
    """Return the name and the content of the wheel."""
    tags = (found.read_text("WHEEL") or "").splitlines()
    tag = next(line.partition(": ")[2] for line in tags if line.startswith("Tag: "))
    stem = f"{found.metadata['Name'].replace('-', '_')}-{found.version}"
    content = _content(found, stem)
    record = f"{stem}.dist-info/{RECORD}"
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([name, _digest(data), len(data)] for name, (data, _) in content.items())
    writer.writerow([record, "", ""])
    return f"{stem}-{tag}.whl", _zip({**content, record: (text.getvalue().encode(), False)})


def _content(found: Distribution, stem: str) -> dict[str, tuple[bytes, bool]]:
    """Return each file's content by its name in the wheel, and whether it is a program."""
    scripts = {point.name for point in found.entry_points}
    packages = Path(str(found.locate_file(""))).absolute()
    prefix = packages.parents[2]  # above lib/python3.11/site-packages
    content = {}
    for listed in sorted(map(str, found.files or ())):
        file = Path(os.path.normpath(packages / listed))
        if "__pycache__" in file.parts:
            continue
        if file.is_relative_to(packages):
            name = file.relative_to(packages).as_posix()
            if file.parent.name.endswith(".dist-info") and file.name in INSTALLERS:
                continue
        else:
            place = file.relative_to(prefix)
            if place.parts[0] == SCRIPTS and place.name in scripts:
                continue
            name = f"{stem}.data/data/{place.as_posix()}"
        content[name] = (file.read_bytes(), bool(file.stat().st_mode & 0o100))
    return content


def _digest(data: bytes) -> str:
    sha = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"sha256={sha}"


def _zip(content: Mapping[str, tuple[bytes, bool]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (data, program) in content.items():
            info = zipfile.ZipInfo(name, MADE)
            info.external_attr = (0o100755 if program else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return buffer.getvalue()
