# SPDX-License-Identifier: MIT
"""A VM with the stock kernel that sees this machine's whole root file system.

Commands of ours run in it as root, on disks that are only for tests. The root is shared read-only
(9p), and writes go to memory. Everything that the commands compile must be in the cache before. The
script runs in bash, in this checkout. Polars has one thread; some of its functions (group_by of
32-bit keys) crash in QEMU 7.2's vector instructions.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from guests import boot
from places import CHECKOUT

from understudy_devices.base import programs
from understudy_devices.base.paths import cache_dir
from understudy_devices.platforms import guest_programs
from understudy_devices.platforms.vm.machine import Result

MODULES = {"9p": "", "9pnet_virtio": "", "overlay": "", "virtio_pci": ""}
SHARED = (
    # Python's libraries need more than QEMU's default processor.
    *("-cpu", "max"),
    *("-fsdev", "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap"),
    *("-device", "virtio-9p-pci,fsdev=root,mount_tag=root"),
)
ENTER = r"""
mkdir /host /above /whole
mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=512000,cache=loose root /host ||
	fail 'no root of the host: does QEMU have virtio-9p?'
mount -t tmpfs above /above && mkdir /above/upper /above/work
mount -t overlay -o lowerdir=/host,upperdir=/above/upper,workdir=/above/work whole /whole ||
	fail 'no overlay'
for folder in proc sys dev out; do
	mkdir -p /whole/$folder
	mount -o bind /$folder /whole/$folder
done
mount -t tmpfs run /whole/run
cp /script /whole/run/script
chroot /whole /bin/bash /run/script > /out/said 2>&1 || fail "$(tail -n 20 /out/said)"
"""
HOME = """\
set -u
cd {root}
export HOME={home} XDG_CACHE_HOME={cache} TMPDIR=/run POLARS_MAX_THREADS=1
export PATH={bin}:/usr/sbin:/usr/bin:/sbin:/bin
"""


def run(script: str, modules: Mapping[str, str], seconds: float = 1200) -> Result:
    """Boot the VM and run the script."""
    for program in guest_programs.of_every_guest():
        programs.compiled(program)
    home = HOME.format(
        root=CHECKOUT,
        home=Path.home(),
        cache=cache_dir().parent,
        bin=Path(sys.executable).parent,
    )
    return boot(
        ENTER,
        {**MODULES, **modules},
        files={"script": home + script},
        clock="wall",
        memory_mib=2048,
        devices=SHARED,
        timeout_seconds=seconds,
    )
