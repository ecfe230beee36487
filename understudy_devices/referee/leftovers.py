# SPDX-License-Identifier: MIT
"""What a driver leaves in the kernel when its module is unloaded: memory that it has allocated, and
what it has registered, such as a device number, a class, or a file in /proc.

The guest compares the kernel's own lists from before the driver was first loaded with those after
it was unloaded, and writes the differences into the kernel's log. For memory these are SLUB's list
of who has allocated each piece (`slub_debug`, memory.py), the list of vmalloc, and the bus's of
whole pages (kernel/vpcib/pages.c): an address there that belongs to no function is one of the
unloaded module. What was registered only after loading may be that of another part of the kernel,
which the exercise has used, and does not count.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from understudy_devices.referee.events import Finding

WAIT_FOR_FREES_SECONDS = 10
"""Longer than kfree_rcu() takes to free memory."""
COMMANDS = f"""
registered() {{
	sed -n 's,^ *[0-9][0-9]* .*,/proc/devices: &,p' /proc/devices
	ls -d /proc/[a-z]* /proc/driver/* /sys/bus/pci/drivers/* /sys/class/* /sys/dev/*/* \
		/sys/kernel/debug/* 2> /dev/null
}}
allocated() {{
	cat /sys/kernel/debug/slab/kmalloc-*/alloc_traces | awk '$2 ~ /^0xf/ {{ print $2, $1 }}'
	awk '$3 ~ /^0xf/ {{ print $3, 1 }}' /proc/vmallocinfo
	awk '/^0xf/ {{ pieces[$1]++ }} END {{ for (from in pieces) print from, pieces[from] }}' \
		/sys/kernel/debug/vpcib_pages
}}
before_loading() {{
	mount -t debugfs none /sys/kernel/debug
	registered > /tmp/registered
	allocated | sed 's, .*,,' > /tmp/allocated
	echo none >> /tmp/allocated
}}
loaded() {{
	echo "understudy: loaded at $(cat /sys/module/$1/sections/.text)" > /dev/kmsg
	registered > /tmp/with
}}
# still SECONDS COMMAND WORDS: logs what the command prints, and prints again after some seconds.
still() {{
	if $2 > /tmp/left; then
		sleep $1
		$2 > /tmp/left
	fi
	while read -r line; do
		echo "understudy: $3: $line" > /dev/kmsg
	done < /tmp/left
}}
still_registered() {{
	registered | grep -vxFf /tmp/registered | grep -xFf /tmp/with
}}
still_allocated() {{
	for each in /sys/kernel/slab/kmalloc-*/shrink; do
		echo 1 > $each # or KASAN keeps what was freed
	done
	allocated | grep -vFf /tmp/allocated
}}
after_unloading() {{
	still 2 still_registered "left behind"
	registered > /tmp/registered
}}
at_the_end() {{
	still {WAIT_FOR_FREES_SECONDS} still_allocated "memory leaked"
}}
"""
"""The guest's functions, which its script calls before the driver is first loaded, after each
loading with the module's name, after each unloading, and at the end."""
LOADED = re.compile(r"understudy: loaded at 0x([0-9a-f]+)")
LEAKED = re.compile(r"understudy: memory leaked: 0x([0-9a-f]+) (\d+)")
LEFT = re.compile(r"understudy: left behind: (.+)")


def named(log: str, driver: Path) -> Iterator[Finding]:
    """Yield a finding for each function whose memory was not freed, and one for all that is still
    registered; `driver` is the built module.
    """
    if left := [words.strip() for words in LEFT.findall(log)]:
        yield Finding("left in the kernel", 0, ", ".join(dict.fromkeys(left)))
    leaks = [(int(address, 16), int(pieces)) for address, pieces in LEAKED.findall(log)]
    if not leaks:
        return
    functions = _functions(driver)
    bases = [int(base, 16) for base in LOADED.findall(log)]
    pieces: dict[str, int] = {}
    for address, count in leaks:
        name = _function(functions, bases, address)
        pieces[name] = pieces.get(name, 0) + count
    for name, count in sorted(pieces.items()):
        pieces_of = "a piece" if count == 1 else f"{count} pieces"
        yield Finding("memory leaked", 0, f"{pieces_of} allocated in {name}")


def _functions(driver: Path) -> list[tuple[int, int, str]]:
    """Return begin, end and name of each function in the module's section .text."""
    command = ["nm", "--format=sysv", str(driver)]
    table = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [[cell.strip() for cell in line.split("|")] for line in table.splitlines()]
    return [
        (int(row[1], 16), int(row[1], 16) + int(row[4], 16), row[0])
        for row in rows
        if len(row) == 7 and row[3] == "FUNC" and row[6] == ".text"
    ]


def _function(functions: list[tuple[int, int, str]], bases: list[int], address: int) -> str:
    """Return the name of the function that has asked for memory: to it, the call returned."""
    for base in bases:
        for begin, end, name in functions:
            if begin < address - base <= end:
                return name
    return "an init function"
