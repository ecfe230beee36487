# SPDX-License-Identifier: MIT
"""The real platform: a disk of this machine, with the schedulers of its kernel.

disk         which disk it is, and whether it may be used
queue        its scheduler and settings, which are restored at the end
tracepoints  records requests from the kernel's own events of the block layer
stamps       records requests from the processes' own log
workload     the program that plays the workload
on_disk      one experiment of the "workload x scheduler x device" sentence
"""
