# SPDX-License-Identifier: MIT
"""The real platform: a disk of this machine, with the schedulers of its kernel.

disk         which disk it is, and who must not be disturbed
queue        its scheduler and its settings, put back at the end
tracepoints  the instrument: the kernel's own events of the block layer
stamps       the other one: what the processes say
workload     the program that plays the workload
on_disk      one experiment of the "workload x scheduler x device" sentence
"""
