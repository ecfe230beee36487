# SPDX-License-Identifier: MIT
"""The lab's `--base debian` for tests: made once, in minutes, and kept in the cache."""

from pathlib import Path

from understudy_devices.base.cache import cached_folder, digest
from understudy_devices.lab import debian, submissions
from understudy_devices.lab.base_image import DISK, INITRD, KERNEL
from understudy_devices.platforms.vm import packages


def options() -> tuple[Path, tuple[str, ...]]:
    """Return the image, and the options of `create` for its kernel."""
    content = [Path(debian.__file__).read_bytes(), submissions.GUEST_PROGRAM.encode()]
    name = digest([*content, packages.current_kernel().version.encode()])
    folder = cached_folder(f"lab-base/{name}", _build)
    kernel = ("--kernel", str(folder / KERNEL), "--initrd", str(folder / INITRD))
    return folder / DISK, kernel


def _build(folder: Path) -> None:
    debian.build(folder, lambda _: None)
