# SPDX-License-Identifier: MIT
"""Virtual cards, and a disk with a profile's timing, as a team's VM has them.

Their modules are built on this host, for one kernel.  They reach a guest through its agent while
the VM runs (plug.py), or lie on a read-only drive beside the base, from which the guest loads them
at each boot:

    load                    the script that loads all of them, for /bin/sh; if one is missing then,
                            it says so on the console, and its exit code is 1
    each/NUMBER             the script that loads one of them
    modules/                the modules, and those of the kernel that they need
    cards/NAME/             what a driver's author needs: headers, self-test, Makefile, a driver
"""

import os
import re
import shlex
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from understudy_devices.base import scratch
from understudy_devices.base.errors import UserError
from understudy_devices.cards import specification
from understudy_devices.cards.driver import driver, makefile
from understudy_devices.cards.header import header
from understudy_devices.cards.selftest import selftest
from understudy_devices.device.profile import DiskProfile
from understudy_devices.lab import ext4
from understudy_devices.lab.renewal import NO_DEVICES
from understudy_devices.platforms.vm import modules, packages, scenario
from understudy_devices.platforms.vm.controllers import CONTROLLERS
from understudy_devices.platforms.vm.packages import Kernel

PLACE = "/opt/devices"
"""Where the guest mounts the drive."""
LABEL, LOAD, EACH, MODULES, CARDS = "devices", "load", "each", "modules", "cards"
DRIVERS = "drivers"
"""The folder beside a card's specification with the interface between driver and programs."""
EPOCH = 1_000_000_000
"""The time stamp of all files on the drive, in seconds since 1970."""
BUS = "vpcib"
DISK = CONTROLLERS["vdisk"]
SEED = 1
SET_UP = f"""vpt=/sys/kernel/vpt/{DISK.disk}
put() {{
	if ! echo "$1" >"$2"; then
		echo "$2 refuses it" >&2
		exit 1
	fi
}}
[ ! -e $vpt ] || put {DISK.disk} /sys/kernel/vpt/remove
put /dev/{DISK.disk} /sys/kernel/vpt/add
"""
SET_UP_PROFILE = f"""profile
put 1000 $vpt/scale_milli
put 1 $vpt/subtract_overhead
put 1 /sys/block/{DISK.disk}/queue/rotational
"""
LOAD_ALL = f"""cd {PLACE}/{MODULES} || exit 1
set -f
rm -f {NO_DEVICES}
status=0
load() {{
	words=$(/bin/sh ../{EACH}/$1 2>&1) && return
	status=1
	words=$(echo "lab-devices: $2 is missing:" $words)
	echo "$words" >&2
	echo "$words" >>{NO_DEVICES}
	if [ -c /dev/console ]; then
		echo "$words" >/dev/console
	fi
}}
"""
BOOT_HEADER_BYTES = 0x264
MAGIC_AT, MAGIC, VERSION_AT, VERSION_FROM = 0x202, b"HdrS", 0x20E, 0x200
RELEASE = re.compile(rb"([!-~]{1,64}) [ -~]*\0")


@dataclass(frozen=True)
class Device:
    """A card or a disk.

    source: the card's name, or its file; empty for a disk.  parameters: of each module to load.
    script: what /bin/sh does when they are loaded.
    """

    what: str
    parameters: dict[str, str]
    source: str = ""
    script: str = ""

    def modules(self, kernel: Kernel) -> list[Path]:
        """Build the modules; return them, and those of the kernel that they need, in the order in
        which they are loaded.  UserError if a card does not compile."""
        cards = [f"{modules.CARD}{self.source}"] if self.source else []
        built = modules.ours(kernel, [*self.parameters, *cards])
        return modules.ModuleTree(kernel, built).in_load_order(list(self.parameters))

    def files(self) -> dict[str, str]:
        """Return what a driver's author needs for a card, by name; nothing for a disk."""
        if not self.source:
            return {}
        spec = specification.load(self.source)
        texts = {
            f"{spec.name}_registers.h": header(spec),
            f"{spec.name}_selftest.c": selftest(spec),
            f"{spec.name}_driver.c": driver(spec),
            "Makefile": makefile(spec),
        }
        interface = f"{spec.name}_driver.h"
        content = specification.beside(self.source, f"{DRIVERS}/{interface}")
        if content is not None:
            texts[interface] = _text(specification.file_of(self.source).parent, interface, content)
        return {f"{CARDS}/{spec.name}/{name}": text for name, text in texts.items()}


def card(name: str) -> Device:
    """Return the card of this name, or in this file; UserError if there is none."""
    if name not in specification.catalogue():
        specification.beside(name, specification.file_of(name).name)  # a pipe would never end
    card_name = specification.load(name).name
    parameters = {BUS: "", f"{modules.CARD}{card_name}": ""}
    return Device(f"the card {card_name}", parameters, source=name)


def disk(profile: DiskProfile, size_bytes: int) -> Device:
    """Return a disk, /dev/vdisk, with a profile's timing, which is scaled to its size.

    Its data is in the guest's memory.  UserError if the profile is an array.
    """
    if profile.array:
        raise UserError(f"--disk {profile.name}: an array of disks; name one disk")
    drive = profile.timing(DISK.capacity_sectors(size_bytes))
    script = "\n".join((SET_UP, scenario.profile(drive, SEED), SET_UP_PROFILE))
    script += scenario.write_cache(drive, DISK)
    parameters = {**dict.fromkeys(scenario.CORE_MODULES, ""), **DISK.module_parameters(size_bytes)}
    return Device(f"a disk {DISK.disk}", parameters, script=script)


def check_kernel(image: Path, kernel: Kernel) -> None:
    """Raise UserError if a base's kernel, a bzImage, is not the one that modules are built for."""
    release = release_of(image)
    if release != kernel.release:
        raise UserError(
            f"{image}: Linux {release}, and modules for --disk and --card are built for "
            f"{kernel.release}: take a base with that kernel, or set {packages.OWN_KERNEL}"
        )


def release_of(image: Path) -> str:
    """Return what `uname -r` prints under a kernel, a bzImage (Linux x86 boot protocol);
    UserError if it is none."""
    with image.open("rb") as file:
        start = file.read(BOOT_HEADER_BYTES)
        is_whole = len(start) == BOOT_HEADER_BYTES
        if is_whole and start[MAGIC_AT : MAGIC_AT + len(MAGIC)] == MAGIC:
            (place,) = struct.unpack_from("<H", start, VERSION_AT)
            file.seek(VERSION_FROM + place)
            if place and (match := RELEASE.match(file.read(512))):
                return match[1].decode()
    raise UserError(
        f"{image}: a kernel that does not say its version, so no modules are built for it: take "
        "a bzImage, such as Debian's /boot/vmlinuz"
    )


def write(devices: Sequence[Device], kernel: Kernel, image: Path) -> None:
    """Write the drive with the modules of these devices; equal devices give equal bytes."""
    with scratch.folder("understudy-devices-") as folder:
        for name in (EACH, MODULES, CARDS):
            (folder / name).mkdir()
        load = LOAD_ALL
        for number, device in enumerate(devices, 1):
            lines = ["set -e"]
            for module in device.modules(kernel):
                (folder / MODULES / module.name).write_bytes(module.read_bytes())
                lines.append(load_line(module, device.parameters.get(module.stem, "")))
            (folder / EACH / str(number)).write_text("\n".join([*lines, device.script, ""]))
            load += f"load {number} {shlex.quote(device.what)}\n"
            for name, text in device.files().items():
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_text(text)
        (folder / LOAD).write_text(f"{load}exit $status\n")
        sizes = []
        for path in ext4.everything(folder):
            os.utime(path, (EPOCH, EPOCH))
            path.chmod(0o755 if path.is_dir() else 0o644)
            sizes.append(path.stat().st_size)
        ext4.write(folder, image, ext4.room(sizes), LABEL, EPOCH, shared=True)


def _text(folder: Path, name: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise UserError(
            f"{folder / DRIVERS / name}: not text in UTF-8: save it in that encoding"
        ) from None


def load_line(module: Path, parameters: str) -> str:
    """Return the line that loads a module of this folder, unless the guest has it."""
    name = module.stem.replace("-", "_")
    return f"[ -e /sys/module/{name} ] || insmod {module.name} {parameters}".rstrip()
