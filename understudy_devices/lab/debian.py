# SPDX-License-Identifier: MIT
"""Makes a base from Debian's packages alone, with mmdebstrap; there is no installer.

The disk is one ext4 file system, which QEMU boots with the kernel and the initrd of the packages.
Equal packages give equal bytes: all time stamps are SOURCE_DATE_EPOCH or earlier, and what is drawn
at random is removed.  What no two VMs may share is made at their first boot: the machine's
identity, the keys of its SSH server, the seed of its random numbers.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from understudy_devices.base import regular_file
from understudy_devices.base.errors import UserError
from understudy_devices.base.plain import one_line
from understudy_devices.lab import ext4, from_raw, programs, submissions
from understudy_devices.lab.base_image import DEVICES, DISK, INITRD, KERNEL, Source
from understudy_devices.lab.base_image import PACKAGES as LIST
from understudy_devices.lab.devices import LOAD, PLACE

TOOL = "mmdebstrap"
INSTALL = f"apt-get install -y --no-install-recommends {TOOL}"
RELEASE = "bookworm"
PACKAGES = (
    "linux-image-amd64",
    "linux-headers-amd64",
    "initramfs-tools",
    "systemd-sysv",
    "systemd-timesyncd",
    "dbus",
    "libpam-systemd",
    "udev",
    "kmod",
    "e2fsprogs",
    "iproute2",
    "pciutils",
    "openssh-server",
    "qemu-guest-agent",
    "ca-certificates",
    "gcc",
    "libc6-dev",
    "make",
    "git",
    "nano",
    "vim-tiny",
    "less",
)
SINCE_DEVICES = "pciutils"
"""A package that came with the unit lab-devices."""
LIST_BYTES_MAX = 2**20
DISK_BYTES = 8 * 2**30
EPOCH = 1_686_355_200
"""The day of Debian 12's release; a time stamp that all files may have."""
EMPTIED = ("var/cache/apt", "var/log", "var/cache/ldconfig", "tmp", "run", "var/lib/apt/lists")
REMOVED = (
    "etc/ssh/ssh_host_*",
    "etc/*-",
    "etc/.pwd.lock",
    "etc/apt/apt.conf.d/99mmdebstrap",
    "etc/dpkg/dpkg.cfg.d/99mmdebstrap",
    "var/lib/dpkg/*-old",
    "var/lib/systemd/random-seed",
    "var/lib/systemd/catalog/database",
    "var/lib/dbus/machine-id",
    "etc/resolv.conf",
)
FILES = {
    "etc/hostname": "lab\n",
    "etc/hosts": "127.0.0.1 localhost lab\n",
    "etc/fstab": "/dev/vda / ext4 errors=remount-ro 0 1\n",
    "etc/machine-id": "",
    "etc/resolv.conf": "nameserver 10.0.2.3\n",
    "etc/systemd/network/lab.network": "[Match]\nName=en* eth*\n\n[Network]\nDHCP=yes\n",
    "etc/systemd/system/serial-getty@ttyS0.service.d/lab.conf": (
        "[Service]\nExecStart=\nExecStart=-/sbin/agetty --autologin root --keep-baud "
        "115200,57600,38400,9600 %I $TERM\n"
    ),
    "etc/systemd/system/lab-first-boot.service": (
        "[Unit]\nDescription=Keys of this VM's SSH server\nBefore=ssh.service\n"
        "ConditionPathExists=!/etc/ssh/ssh_host_ed25519_key\n\n"
        "[Service]\nType=oneshot\nExecStart=/usr/bin/ssh-keygen -A\n\n"
        "[Install]\nWantedBy=multi-user.target\n"
    ),
    "etc/systemd/system/usr-local.mount": (
        "[Unit]\nDescription=The lab's shared drive\nBefore=multi-user.target\n\n"
        "[Mount]\nWhat=/dev/disk/by-id/virtio-shared\nWhere=/usr/local\nType=ext4\n"
        "Options=ro,nosuid,nodev\n\n"
        "[Install]\nWantedBy=dev-disk-by\\x2did-virtio\\x2dshared.device\n"
    ),
    "etc/systemd/system/opt-devices.mount": (
        "[Unit]\nDescription=The modules of the lab's devices\n\n"
        f"[Mount]\nWhat=/dev/disk/by-id/virtio-{DEVICES}\nWhere={PLACE}\nType=ext4\n"
        "Options=ro,nosuid,nodev\n"
    ),
    "etc/systemd/system/lab-devices.service": (
        "[Unit]\nDescription=The lab's devices\nBefore=multi-user.target\n"
        "Requires=opt-devices.mount\nAfter=opt-devices.mount\n\n"
        f"[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sh {PLACE}/{LOAD}\n\n"
        f"[Install]\nWantedBy=dev-disk-by\\x2did-virtio\\x2d{DEVICES}.device\n"
    ),
}
PROGRAMS = {"usr/bin/submit": submissions.GUEST_PROGRAM}
SERVICES = ("systemd-networkd", "lab-first-boot", "usr-local.mount", "lab-devices")

Say = Callable[[str], None]


def check() -> None:
    """Raise UserError if no base can be made here."""
    if not shutil.which(TOOL):
        raise UserError(f"--base debian: no {TOOL} here: {INSTALL}")
    if os.geteuid():
        raise UserError("--base debian: files of the image belong to root: run this as root")
    _epoch()


def build(folder: Path, say: Say) -> Source:
    """Make disk, kernel and initrd in an empty folder, in some minutes."""
    check()
    epoch = _epoch()
    root = folder / "root"
    say("fetching and unpacking Debian's packages")
    _install(root, epoch)
    _configure(root)
    for name, pattern in ((KERNEL, "vmlinuz-*"), (INITRD, "initrd.img-*")):
        (found,) = (root / "boot").glob(pattern)
        shutil.copyfile(found, folder / name)
    packages = folder / LIST
    packages.write_text(_packages(root, epoch))
    say("making the file system")
    _clamp(root, epoch)
    raw = folder / "raw"
    ext4.write(root, raw, DISK_BYTES, "lab", epoch)
    shutil.rmtree(root)
    say("making the image")
    from_raw.write(raw, folder / DISK)
    raw.unlink()
    disk, kernel, initrd = (folder / name for name in (DISK, KERNEL, INITRD))
    return Source(disk, kernel, initrd, packages=packages, title=f"Debian {RELEASE}")


def loads_no_devices(disk: Path) -> bool:
    """Return whether the list of packages beside a base's image says that `build` made it before it
    had the unit lab-devices; False if there is no list."""
    try:
        lines = regular_file.read(disk.parent / LIST, LIST_BYTES_MAX).decode().splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    names = {line.partition(" ")[0] for line in lines}
    return "linux-image-amd64" in names and SINCE_DEVICES not in names


def _epoch() -> int:
    """Return the newest time stamp that a file may have, in seconds since 1970."""
    text = os.environ.get("SOURCE_DATE_EPOCH") or str(EPOCH)
    if not (text.isascii() and text.isdigit() and int(text) < 2**32):
        raise UserError(
            f"SOURCE_DATE_EPOCH: {one_line(text)[:40]} is no number of seconds since 1970: give "
            f"one from 0 to {2**32 - 1}, or unset it"
        )
    return int(text)


def _install(root: Path, epoch: int) -> None:
    # Mounts of its own: none is left in the folder if the command is killed.
    command = [
        *("unshare", "--mount", "--propagation", "private"),
        *(TOOL, "--variant=minbase", "--mode=root", "--format=directory", "--quiet"),
        f"--include={','.join(PACKAGES)}",
        "--aptopt=APT::Install-Recommends false",
        "--dpkgopt=force-unsafe-io",  # if the host crashes, the image is made anew
        *(RELEASE, str(root)),
    ]
    programs.run(command, epoch)


def _packages(root: Path, epoch: int) -> str:
    """Return each package's name and version, a line each."""
    form = "${binary:Package} ${Version}\\n"
    return programs.run(["dpkg-query", f"--admindir={root}/var/lib/dpkg", "-W", "-f", form], epoch)


def _configure(root: Path) -> None:
    for pattern in REMOVED:
        for path in root.glob(pattern):
            path.unlink()
    for name in EMPTIED:
        for path in (root / name).iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
    (root / "var/log/journal").mkdir(exist_ok=True)
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    for name, content in PROGRAMS.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        path.chmod(0o755)
    for service in SERVICES:
        programs.run(["systemctl", f"--root={root}", "enable", service], EPOCH)


def _clamp(root: Path, epoch: int) -> None:
    """Give no file a later time stamp than the epoch."""
    for path in ext4.everything(root):
        os.utime(path, (epoch, min(int(path.lstat().st_mtime), epoch)), follow_symlinks=False)
