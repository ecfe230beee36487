# SPDX-License-Identifier: MIT
"""A small Linux for tests of the lab: Debian's kernel, BusyBox, and an agent that is a script.

Its clock says 2001 until somebody sets it.  The agent speaks as much of the protocol of QEMU's
guest agent as the lab uses.  A letter at the serial port makes the guest

i: print machine-id, 16 random bytes and the time, as "identity ID RANDOM SECONDS"
d: print the first line of the file version on the shared drive, as "drive LINE", or "drive none";
   the drive stays mounted
w: add one to the number in the first sector of its disk, and print "wrote NUMBER" when it is
   flushed
o: crash
s: hand in the five bytes "hello" as the assignment hw1
"""

from pathlib import Path

from understudy_devices.platforms.vm import modules, packages, stages
from understudy_devices.platforms.vm.initramfs import Initramfs

MODULES = ("virtio_pci", "virtio_blk", "virtio_console", "virtio_net", "crc32c_generic", "ext4")
MACHINE_ID = "0123456789abcdef0123456789abcdef"
AGENT = r"""#!/bin/sh
# Each process is over before its number is told.
for port in /sys/class/virtio-ports/*; do
	[ "$(cat $port/name)" = org.qemu.guest_agent.0 ] && exec 3<>/dev/${port##*/}
done
touch /tmp/agent
while :; do
	if ! IFS= read -r line <&3; then
		sleep 0.05
		continue
	fi
	case $line in
	*guest-sync-delimited*)
		id=$(echo "$line" | sed 's/.*"id": *\([0-9]*\).*/\1/')
		printf '\377{"return": %s}\n' "$id" >&3
		;;
	*guest-set-time*)
		time=$(echo "$line" | sed 's/.*"time": *\([0-9]*\).*/\1/')
		date -s @$((time / 1000000000)) >/dev/null
		echo '{"error": {"desc": "no hwclock"}}' >&3
		;;
	*guest-get-time*)
		echo "{\"return\": $(date +%s)000000000}" >&3
		;;
	*guest-exec-status*)
		printf '{"return": {"exited": true, "exitcode": %s, ' $code >&3
		printf '"out-data": "%s", ' "$(base64 -w 0 /tmp/out)" >&3
		printf '"err-data": "%s"}}\n' "$(base64 -w 0 /tmp/err)" >&3
		;;
	*guest-exec*)
		echo "$line" | sed 's/.*"input-data": *"\([^"]*\)".*/\1/' | base64 -d >/tmp/in
		set -- $(echo "$line" | sed 's/.*"arg": *\[\([^]]*\)\].*/\1/' | tr -d '",')
		code=0
		sh "$@" </tmp/in >/tmp/out 2>/tmp/err || code=$?
		echo '{"return": {"pid": 7}}' >&3
		;;
	esac
done
"""
INIT = r"""#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
date -s @1000000000 >/dev/null
mount -t devtmpfs none /dev
mount -t proc none /proc
mount -t sysfs none /sys
for module in $(cat /modules/list); do
	insmod /modules/$module
done
while [ ! -e /dev/vda ] || [ ! -e /sys/class/virtio-ports ]; do
	sleep 0.1
done
ifconfig eth0 10.0.2.15
for disk in /sys/block/vd*; do
	if [ "$(cat $disk/serial)" = devices ]; then
		mkdir -p /opt/devices
		mount -t ext4 -o ro /dev/${disk##*/} /opt/devices
		sh /opt/devices/load || echo "no devices"
	fi
done
if [ -x /bin/agent ]; then
	setsid agent &
	until [ -e /tmp/agent ]; do
		sleep 0.1
	done
fi
number=$(head -c 10 /dev/vda | tr -cd 0-9)
number=${number:-0}
stty raw -echo
echo "up $number"
while :; do
	case $(head -c 1) in
	i)
		random=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
		echo "identity $(cat /etc/machine-id) $random $(date +%s)"
		;;
	d)
		for disk in /sys/block/vd*; do
			if [ "$(cat $disk/serial)" = shared ] && [ ! -e /run/drive ]; then
				mkdir /run/drive
				mount -t ext4 -o ro /dev/${disk##*/} /run/drive
			fi
		done
		echo "drive $(head -n 1 /run/drive/version || echo none)"
		;;
	o)
		echo c >/proc/sysrq-trigger
		;;
	s)
		printf 'submit hw1 5\nhello' | nc 10.0.2.100 9090
		;;
	w)
		number=$((number + 1))
		printf '%-10d' $number | dd of=/dev/vda conv=notrunc,fsync 2>/dev/null
		echo "wrote $number"
		;;
	esac
done
"""


def options(folder: Path, *, has_agent: bool = True, bus: bool = False) -> tuple[str, ...]:
    """Return the options of `create` for a base whose kernel and user space these are.

    bus: whether the guest has the bus of virtual cards and the throttle; its agent reads slowly.
    """
    kernel = packages.fetch_kernel()
    initramfs = Initramfs()
    for name in ("bin", "dev", "proc", "run", "sys", "tmp"):
        initramfs.folder(name)
    initramfs.character_device("dev/console", 5, 1)
    initramfs.file("init", INIT, executable=True)
    initramfs.file("bin/busybox", stages.busybox(), executable=True)
    initramfs.file("etc/machine-id", f"{MACHINE_ID}\n")
    if has_agent:
        initramfs.file("bin/agent", AGENT, executable=True)
    more = ["vpcib", "vpt"] if bus else []
    tree = modules.ModuleTree(kernel, modules.ours(kernel, more) if bus else [])
    paths = tree.in_load_order([*MODULES, *more])
    for path in paths:
        initramfs.file(f"modules/{path.name}", path)
    initramfs.file("modules/list", "".join(f"{path.name}\n" for path in paths))
    initrd = folder / "initrd"
    initrd.write_bytes(initramfs.archive().content)
    arguments = "console=ttyS0 quiet"
    kernel_words = ("--kernel", str(kernel.packed_image), "--initrd", str(initrd))
    return (*kernel_words, "--kernel-arguments", arguments, "--memory", "96MiB")
