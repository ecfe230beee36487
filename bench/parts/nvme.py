# SPDX-License-Identifier: MIT
"""How many reads a second the card nvme serves, beside QEMU's own NVMe controller."""

import json

from bench.part import Column, Rows
from understudy_devices.base.errors import RunFailed
from understudy_devices.platforms.vm import debian_programs, machine, qemu

TITLE = "How fast the NVMe card is"
TEXT = """
Debian's `nvme.ko` drives both in one VM, in the wall clock: the card [nvme](cards.md), whose
registers are trapped in the guest's kernel, and QEMU's `-device nvme` with a disk that holds no
data. `fio` reads 4 KiB at random places of 64 MiB, with O_DIRECT, on one after the other, several
times. The figures are medians. *Ratio* is QEMU's reads a second over the card's.

{{ reads }}
"""
TABLES = {
    "reads": (
        Column("processors", "{processors}"),
        Column("at once", "{depth}"),
        Column("card (reads/s)", "{card:,.0f}"),
        Column("QEMU (reads/s)", "{qemu:,.0f}"),
        Column("ratio", "{ratio:.2f}"),
    )
}
SIZES = {
    "full": {"processors": [1], "depths": [1, 16], "rounds": 5, "seconds": 4},
    "quick": {"processors": [1], "depths": [1, 16], "rounds": 3, "seconds": 2},
    "tiny": {"processors": [1], "depths": [1], "rounds": 1, "seconds": 1},
}
IN_VM = True

CONTROLLERS = {"card": "Understudy virtual NVMe controller", "qemu": "QEMU NVMe Ctrl"}
MODULES = {"card_nvme": "namespaces=1", "nvme": ""}
DEVICES = (
    *("-blockdev", "driver=null-co,node-name=none,size=67108864,read-zeroes=on"),
    *("-device", "nvme,drive=none,serial=1"),
)
SCENARIO = """
for round in $(seq {rounds}); do
	for depth in {depths}; do
		for place in /sys/block/nvme*; do
			name=${{place##*/}}
			model=$(sed 's/ *$//' $place/device/model)
			fio --name=reads --filename=/dev/$name --rw=randread --bs=4k --direct=1 --size=64M \\
				--ioengine=libaio --iodepth=$depth --time_based --runtime={seconds} \\
				--randseed=$round --output-format=json --output=/out/$round-$depth-$name || exit 1
			echo "$model" > /out/$round-$depth-$name.model
		done
	done
done
"""


def measure(processors: list[int], depths: list[int], rounds: int, seconds: int) -> Rows:
    """Yield a row for each number of processors and of reads at once."""
    text = SCENARIO.format(
        rounds=rounds, depths=" ".join(str(depth) for depth in depths), seconds=seconds
    )
    for cpus in processors:
        result = machine.run(
            machine.Vm(
                scenario=text,
                modules=MODULES,
                files=debian_programs.files("fio", "fio"),
                machine=qemu.Machine(clock="wall", cpus=cpus, memory_mib=1024, devices=DEVICES),
            )
        )
        if result.exit_code:
            raise RunFailed(result.console)
        for depth in depths:
            card, other = (_reads_a_second(result, depth, name) for name in CONTROLLERS.values())
            row = {"processors": cpus, "depth": depth, "card": card, "qemu": other}
            yield "reads", {**row, "ratio": other / card}


def _reads_a_second(result: machine.Result, depth: int, model: str) -> float:
    """Return the median over the rounds."""
    files = [
        name.removesuffix(".model")
        for name, content in result.out.items()
        if name.endswith(".model") and content.decode().strip() == model
    ]
    each = sorted(
        float(json.loads(result.out[name])["jobs"][0]["read"]["iops"])
        for name in files
        if name.split("-")[1] == str(depth)
    )
    return each[len(each) // 2]
