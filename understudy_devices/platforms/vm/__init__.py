# SPDX-License-Identifier: MIT
"""The VM platform: a stock Debian kernel under QEMU with a throttled disk.

machine      one VM from its start to its results
qemu         the command line: only this package knows QEMU's flags
initramfs    the archive that the VM boots from
packages     kernel, headers and private headers, unpacked into the cache
modules      our kernel modules, built against them
card_modules modules of a card and its driver
card_programs programs that know a card
scenario     an experiment's settings and script for the VM
outcome      its results, checked against the witnesses
in_vm        one experiment of the "workload x scheduler x device" sentence
"""
