# SPDX-License-Identifier: MIT
"""The sealed base of a lab: a folder with the image `disk.qcow2` and, if it is booted without a
boot loader, `kernel` and `initrd`; perhaps a drive with modules, `devices` (devices.py).
`manifest.json` has their seals.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from understudy_devices.base.errors import UserError
from understudy_devices.lab import bootable, locks, overlay, sealed, state_file
from understudy_devices.lab.qcow2 import KNOWN, REFUSED, Image
from understudy_devices.lab.sealed import Seal

SCHEMA = "understudy.lab-base/1"
DISK, KERNEL, INITRD, MANIFEST = "disk.qcow2", "kernel", "initrd", "manifest.json"
PACKAGES, DEVICES = "packages", "devices"
ARGUMENTS = "console=ttyS0 root=/dev/vda rw"


@dataclass(frozen=True)
class Source:
    """What a base is made from; without a kernel, the BIOS boots the disk.

    packages: a list of the packages in it, which is kept beside it.  devices: a drive with modules
    for this kernel.  title: what the base is called; by default it has the disk's name.
    """

    disk: Path
    kernel: Path | None = None
    initrd: Path | None = None
    arguments: str = ""
    packages: Path | None = None
    devices: Path | None = None
    title: str = ""

    def check(self) -> int:
        """Return the size of the disk in bytes; UserError if no clone could be started."""
        for file in filter(None, (self.kernel, self.initrd)):
            if not file.is_file():
                raise UserError(f"{file}: not a file; name a kernel and its initrd")
        if not self.kernel and (self.initrd or self.arguments):
            raise UserError("--initrd and --kernel-arguments go with --kernel")
        with Image(self.disk) as image:
            if locks.is_written(self.disk):
                raise UserError(f"{self.disk}: a VM writes to it: end that VM first")
            header = image.header
            if header.backing:
                raise UserError(
                    f"{self.disk}: an overlay of {header.backing}: qemu-img convert -O qcow2 "
                    f"{self.disk} NEW.qcow2 makes an image of its own"
                )
            for bit, words in REFUSED.items():
                if header.incompatible & bit:
                    raise UserError(f"{self.disk}: {words}")
            if header.incompatible & ~KNOWN:
                raise UserError(
                    f"{self.disk}: it has a feature that is not known here: qemu-img convert -O "
                    f"qcow2 {self.disk} NEW.qcow2 makes an image without"
                )
            if header.virtual_bytes > overlay.VIRTUAL_BYTES_MAX:
                raise UserError(f"{self.disk}: its disk has more than 4 TiB: take a smaller one")
            image.check_complete()
            if not self.kernel:
                bootable.check(image)
            return header.virtual_bytes


@dataclass(frozen=True)
class Base:
    """A sealed base."""

    folder: Path
    virtual_bytes: int
    seals: dict[str, Seal]
    arguments: str
    name: str
    """The name of the file that the base was made from."""

    @property
    def disk(self) -> Path:
        """Return the path of the image."""
        return self.folder / DISK

    @property
    def disk_bytes(self) -> int:
        """Return the size of the image's file."""
        return self.seals[DISK].size

    @property
    def has_kernel(self) -> bool:
        """Return whether QEMU loads the kernel, and not the disk's boot loader."""
        return KERNEL in self.seals

    @property
    def devices(self) -> Path | None:
        """Return the drive from which a guest loads modules at each boot; None if it has none."""
        return self.folder / DEVICES if DEVICES in self.seals else None

    def check_quickly(self, whole: str) -> None:
        """Raise RunFailed if a file has changed, as far as that shows in milliseconds; `whole` is
        the command that checks everything."""
        for name, seal in self.seals.items():
            sealed.check_quickly(self.folder / name, seal, whole)

    def check_fully(self) -> None:
        """Raise RunFailed if a byte has changed; accept files that were copied or moved."""
        seals = {
            name: sealed.check_fully(self.folder / name, seal) for name, seal in self.seals.items()
        }
        if seals != self.seals:
            _write(self.folder, self.virtual_bytes, seals, self.arguments, self.name)


def seal(source: Source, folder: Path) -> Base:
    """Copy a base's files into a new folder, and seal them; UserError for an unusable base.

    The copy is checked too, since a VM may have written to the image meanwhile.
    """
    source.check()
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    seals = {DISK: sealed.copy(source.disk, folder / DISK)}
    virtual_bytes = replace(source, disk=folder / DISK).check()
    if source.kernel:
        seals[KERNEL] = sealed.copy(source.kernel, folder / KERNEL)
    if source.initrd:
        seals[INITRD] = sealed.copy(source.initrd, folder / INITRD)
    if source.packages:
        seals[PACKAGES] = sealed.copy(source.packages, folder / PACKAGES)
    if source.devices:
        seals[DEVICES] = sealed.copy(source.devices, folder / DEVICES)
    arguments = (source.arguments or ARGUMENTS) if source.kernel else ""
    _write(folder, virtual_bytes, seals, arguments, source.title or source.disk.name)
    return read(folder)


def read(folder: Path) -> Base:
    """Return the base in a folder; RunFailed if its manifest is missing or damaged."""
    manifest = state_file.required(folder / MANIFEST)
    try:
        seals = {name: Seal(**fields) for name, fields in manifest["seals"].items()}
        return Base(
            folder, manifest["virtual_bytes"], seals, manifest["arguments"], manifest["name"]
        )
    except (KeyError, TypeError, AttributeError):
        raise state_file.damaged(folder / MANIFEST) from None


def _write(
    folder: Path, virtual_bytes: int, seals: dict[str, Seal], arguments: str, name: str
) -> None:
    content = {
        "schema": SCHEMA,
        "name": name,
        "format": "qcow2",
        "virtual_bytes": virtual_bytes,
        "arguments": arguments,
        "seals": {name: each.as_json() for name, each in seals.items()},
    }
    state_file.write(folder / MANIFEST, content)
