# SPDX-License-Identifier: MIT
"""QEMU's command line for a team's VM.

QEMU runs in the team's folder, so sockets have short names (a Unix socket's path has at most 107
bytes).  A VM waits at its start, until the command has recorded who started it and lets it run.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from understudy_devices.base.cache import digest
from understudy_devices.lab.base_image import DEVICES, INITRD, KERNEL, Base
from understudy_devices.lab.drive import Drive
from understudy_devices.lab.settings import Settings
from understudy_devices.platforms.vm import qemu

MONITOR, CONSOLE, LOG, QEMU_LOG = "monitor.sock", "console.sock", "console.log", "qemu.log"
AGENT, DISPLAY = "agent.sock", "display.sock"
AGENT_PORT = "org.qemu.guest_agent.0"
"""The name by which QEMU's guest agent looks for its port."""
DISPLAY_DEVICES = (
    *("-device", "VGA,addr=0x1e,vgamem_mb=8"),  # up to 1920x1080
    *("-device", "virtio-tablet-pci,addr=0x1d"),  # the pointer is where the viewer's is
)
"""They have addresses of their own, so that all other devices are where they are without them."""
DISPLAY_SOCKET = ("-vnc", f"unix:{DISPLAY},share=force-shared")
"""Several viewers at a time; none can send another one away."""
LACKS = {
    "romfile": "apt-get install seabios has what the display needs",
    "VNC support is disabled": "the lab needs a QEMU with VNC, such as that of Debian's "
    "qemu-system-x86",
}
"""What QEMU says if it has no display, and what mends it."""
DRIVE = "shared"
"""The serial number of the shared drive: /dev/disk/by-id/virtio-shared."""
PROCESSOR = {"tcg": "max", "kvm": "host"}
TRANSLATED_MIB = 128
"""What QEMU keeps of the guest's code that it has translated; by default, up to 1 GiB."""
ACCELERATION = {"tcg": f"tcg,tb-size={TRANSLATED_MIB}", "kvm": "kvm"}
CPU_INFO = Path("/proc/cpuinfo")
CPU_FIELDS = {"vendor_id", "cpu family", "model", "model name", "flags"}

Accelerator = Literal["tcg", "kvm"]


@dataclass(frozen=True)
class Hardware:
    """A VM's hardware; equal hardware can resume a saved machine.

    second: an image, in the team's folder, that the VM has as a read-only second disk.  drive: the
    version of the shared drive; each version is other hardware.  display: whether the VM has one;
    those that earlier versions saved have none.
    """

    settings: Settings
    accelerator: Accelerator
    second: str = ""
    drive: Drive | None = None
    display: bool = True

    def identity(self) -> dict[str, str]:
        """Return what a saved machine needs to be resumed: QEMU and the hardware."""
        built = Path(qemu.binary()).stat()
        return {
            "qemu": qemu.version(),
            "build": f"{built.st_size} {built.st_mtime_ns}",
            "accelerator": self.accelerator,
            # A saved machine does not depend on how much translated code QEMU keeps.
            "hardware": digest([word.encode() for word in self._words(self.accelerator)]),
            **({"processor": _processor()} if self.accelerator == "kvm" else {}),
            **({"drive": self.drive.identity} if self.drive else {}),
        }

    def fitting(self, saved: object) -> "Hardware":
        """Return this hardware without the display, if a machine with this identity has none."""
        without = replace(self, display=False)
        return without if saved == without.identity() else self

    def command_line(
        self,
        name: str,
        disk: str,
        base: Base,
        submissions: str,
        resumes: bool,
        direct: bool = False,
    ) -> list[str]:
        """Return the command that starts the VM, waiting.

        disk: the image in its folder.  submissions: QEMU's rule that takes them from the guest.
        direct: whether writes go past this host's page cache, so that each that fails is known.
        """
        wait = ["-incoming", "defer"] if resumes else ["-S"]
        images = _image("disk", disk, direct=direct)
        if self.second:
            images += _image("second", self.second, read_only=True)
        if self.drive:
            images += _image(DRIVE, str(self.drive.image.resolve()), read_only=True, format="raw")
        words = (
            *self._words(ACCELERATION[self.accelerator]),
            *images,
            *_network(submissions),
            *_kernel(base),
            *_devices(base),
            *(DISPLAY_SOCKET if self.display else ()),
            *wait,
        )
        return [qemu.binary(), "-name", name, *words]

    def _words(self, accelerator: str) -> list[str]:
        return [
            *["-nodefaults", "-no-user-config", "-display", "none"],
            *["-machine", "pc", "-accel", accelerator, "-cpu", PROCESSOR[self.accelerator]],
            *["-smp", str(self.settings.cpus), "-m", f"{self.settings.memory_mib}M"],
            *["-device", "virtio-blk-pci,drive=disk,werror=stop,rerror=report"],
            *(["-device", "virtio-blk-pci,drive=second"] if self.second else []),
            *["-device", "virtio-net-pci,netdev=net,romfile="],
            *["-device", "virtio-rng-pci"],
            *["-chardev", f"{_socket('console', CONSOLE)},logfile={LOG},logappend=on"],
            *["-serial", "chardev:console"],
            *["-device", "vmgenid,guid=auto"],  # a resumed Linux draws new random numbers
            *["-device", "virtio-serial-pci", "-chardev", _socket(AGENT, AGENT)],
            *["-device", f"virtserialport,chardev={AGENT},name={AGENT_PORT}"],
            *["-chardev", _socket("monitor", MONITOR)],
            *["-mon", "chardev=monitor,mode=control"],
            *(DISPLAY_DEVICES if self.display else ()),
            # The last device, so that all others are where they are without it.
            *(["-device", f"virtio-blk-pci,drive={DRIVE},serial={DRIVE}"] if self.drive else []),
        ]


def remedy(words: str) -> str:
    """Return what to do about QEMU's words if it lacks what a display needs; empty otherwise."""
    return next((f": {remedy}" for lack, remedy in LACKS.items() if lack in words), "")


def _processor() -> str:
    """Return a digest of what KVM lets a guest see of this host's processor."""
    first = CPU_INFO.read_text().partition("\n\n")[0].splitlines()
    pairs = (line.partition(":") for line in first)
    return digest(
        [f"{k.strip()}={v.strip()}".encode() for k, _, v in pairs if k.strip() in CPU_FIELDS]
    )


def _socket(name: str, path: str) -> str:
    return f"socket,id={name},path={path},server=on,wait=off"


def _image(
    name: str,
    path: str,
    read_only: bool = False,
    format: Literal["qcow2", "raw"] = "qcow2",
    direct: bool = False,
) -> list[str]:
    """Return the arguments for an image, on which QEMU holds a lock as long as it runs."""
    cache = {"cache": {"direct": True}} if direct else {}
    file = {"driver": "file", "filename": path, "locking": "on", **cache}
    node = {"driver": format, "node-name": name, "file": file, "discard": "unmap", **cache}
    return ["-blockdev", json.dumps({**node, "read-only": read_only})]


def _network(forward: str) -> list[str]:
    """Return the arguments for QEMU's user network, with a rule for connections of the guest."""
    network = {"type": "user", "id": "net", "guestfwd": [{"str": forward}]}
    return ["-netdev", json.dumps(network)]


def _devices(base: Base) -> list[str]:
    """Return the arguments for the drive with modules, which belongs to the base: a saved machine
    is only resumed on the base with which it was saved."""
    if not base.devices:
        return []
    image = _image(DEVICES, str(base.devices), read_only=True, format="raw")
    return [*image, "-device", f"virtio-blk-pci,drive={DEVICES},serial={DEVICES}"]


def _kernel(base: Base) -> list[str]:
    if not base.has_kernel:
        return []
    words = ["-kernel", str(base.folder / KERNEL), "-append", base.arguments]
    if INITRD in base.seals:
        words += ["-initrd", str(base.folder / INITRD)]
    return words
