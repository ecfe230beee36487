# SPDX-License-Identifier: MIT
"""A seccomp(2) filter for compilers in the sandbox; it refuses system calls that no compiler needs.

Linux numbers system calls differently on each architecture (asm/unistd.h).  On an architecture
that is missing in ARCHITECTURES, the filter is empty.
"""

import errno
import platform
import struct

# For each architecture: its AUDIT_ARCH of linux/audit.h, and its column of system call numbers in
# REFUSED.
ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}

# System calls for other processes, namespaces, the network, BPF, keys and kernel modules.
REFUSED = {
    "socket": (41, 198),
    "socketpair": (53, 199),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "fsopen": (430, 430),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "unshare": (272, 97),
    "setns": (308, 268),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "kexec_load": (246, 104),
    "open_by_handle_at": (304, 265),
}

LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER, ARCHITECTURE = 0, 4  # offsets in struct seccomp_data
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM
OTHER_ABI = 0x40000000  # x32: the same architecture, but other numbers


def program() -> bytes:
    """Return the filter as an array of struct sock_filter; empty on an unknown architecture."""
    known = ARCHITECTURES.get(platform.machine())
    if not known:
        return b""
    architecture, column = known
    numbers = sorted(each[column] for each in REFUSED.values())
    steps = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, len(numbers) + 1, 0, OTHER_ABI),
        *((EQUAL, len(numbers) - at, 0, number) for at, number in enumerate(numbers)),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, ERROR),
    ]
    return b"".join(struct.pack("<HBBI", *step) for step in steps)
