# SPDX-License-Identifier: MIT
"""The VM platform: a stock Debian kernel under QEMU with a throttled disk.

machine      one VM from power-on to its results
qemu         the command line: nothing outside this package knows QEMU's flags
initramfs    what the VM boots into
packages     kernel, headers and private headers, unpacked into the cache
modules      our kernel modules, built against them
card_modules those of a card and its driver
card_programs what of it knows a card
scenario     an experiment in the words of the VM
outcome      its answer, held against the witnesses
in_vm        one experiment of the "workload x scheduler x device" sentence
"""
