# SPDX-License-Identifier: MIT
"""The wire between host and guest: memory that both can access.

The run's input and its results are tar archives in this memory. These archives need no device, no
interrupt and no host I/O. In the virtual clock, interrupts and host I/O would occur at times that
depend on the host (docs/decisions/0026-wire.md). guest/wire.c is the guest's end.
"""

import io
import struct
import tarfile
from collections.abc import Mapping
from pathlib import Path

from understudy_devices.base.errors import RunFailed

PAGE_BYTES = 4096
EXECUTABLE = ("bin/", "lib/", "lib64/", "usr/lib/")
HEADER = struct.Struct("<QQ")  # bytes of the input, bytes of the results


def lay(path: Path, size: int, files: Mapping[str, bytes | str | Path]) -> None:
    """Make the wire with a run's input on it; programs and libraries are executable."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in files.items():
            _add(tar, name, content)
    data = archive.getvalue()
    if PAGE_BYTES + len(data) > size:
        raise RunFailed(f"the VM's input of {len(data)} bytes is more than its wire holds")
    with path.open("wb") as wire:
        wire.truncate(size)
        wire.write(HEADER.pack(len(data), 0))
        wire.seek(PAGE_BYTES)
        wire.write(data)


def _add(tar: tarfile.TarFile, name: str, content: bytes | str | Path) -> None:
    if isinstance(content, Path):
        content = content.read_bytes()
    if isinstance(content, str):
        content = content.encode()
    entry = tarfile.TarInfo(name.strip("/"))
    entry.size = len(content)
    entry.mode = 0o755 if name.startswith(EXECUTABLE) else 0o644
    tar.addfile(entry, io.BytesIO(content))


def results(path: Path) -> dict[str, bytes]:
    """Return the files of the guest's folder /out."""
    with path.open("rb") as wire:
        input_bytes, result_bytes = HEADER.unpack(wire.read(HEADER.size))
        wire.seek(PAGE_BYTES + -(-input_bytes // PAGE_BYTES) * PAGE_BYTES)
        archive = io.BytesIO(wire.read(result_bytes))
    if not result_bytes:
        raise RunFailed("the VM ended before it had written its results")
    try:
        with tarfile.open(fileobj=archive, mode="r:") as tar:
            members = [member for member in tar if member.isfile()]
            return {
                member.name.removeprefix("./"): content.read()
                for member in members
                if (content := tar.extractfile(member))
            }
    except tarfile.TarError as error:
        raise RunFailed(f"the VM's results can't be read: {error}") from error
