# SPDX-License-Identifier: MIT
"""A base image whose guest builds a program as a kernel is built: many sources, a library for each
folder, and the whole (guest/builds).

Compiler, C library and BusyBox are Debian's; they lie on the disk beside the sources, as in an
installed system.  Equal packages give an equal image.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

from understudy_devices.base.paths import ROOT
from understudy_devices.lab import ext4, from_raw
from understudy_devices.lab.base_image import Source
from understudy_devices.lab.debian import EPOCH
from understudy_devices.platforms.vm import modules, packages, stages
from understudy_devices.platforms.vm.initramfs import Initramfs

MODULES = ("virtio_pci", "virtio_blk", "crc32c_generic", "ext4")
SCRIPTS = ROOT / "guest" / "builds"
COMPILER, LIBRARY = "tcc", "libc6"
FROM_PACKAGES = {
    "bin/tcc": (COMPILER, "usr/bin/tcc"),
    "lib64/ld-linux-x86-64.so.2": (LIBRARY, "lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"),
    **{
        f"lib/x86_64-linux-gnu/{name}": (LIBRARY, f"lib/x86_64-linux-gnu/{name}")
        for name in ("libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0")
    },
}
"""Files of the image: the package and the file in it."""
HEADERS, HEADER_MACROS = 100, 60
INCLUDED = 12
"""Headers that each source includes."""
FUNCTIONS = 40
"""Functions of each source."""
SOURCES_PER_FOLDER = 10
DISK_BYTES = 128 * 2**20


def build(folder: Path, folders: int) -> Source:
    """Make disk and initrd in an existing folder, with so many folders of sources.

    UserError if a program that makes file systems is missing.
    """
    ext4.check("an image for builds")
    kernel = packages.fetch_kernel()
    initrd = folder / "initrd"
    initrd.write_bytes(_initramfs(kernel))
    root = folder / "root"
    for name, content in _files(folders):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            shutil.copy(content, path)
        else:
            path.write_text(content)
    raw, disk = folder / "raw", folder / "disk.qcow2"
    ext4.write(root, raw, DISK_BYTES, "builds", EPOCH)
    shutil.rmtree(root)
    from_raw.write(raw, disk)
    raw.unlink()
    return Source(disk, kernel.packed_image, initrd, "console=ttyS0 quiet", title="builds")


def _initramfs(kernel: packages.Kernel) -> bytes:
    initramfs = Initramfs()
    for name in ("bin", "dev", "mnt", "proc", "sys", "tmp"):
        initramfs.folder(name)
    initramfs.character_device("dev/console", 5, 1)
    initramfs.file("init", SCRIPTS / "init", executable=True)
    initramfs.file("bin/busybox", stages.busybox(), executable=True)
    paths = modules.ModuleTree(kernel, []).in_load_order(list(MODULES))
    for path in paths:
        initramfs.file(f"modules/{path.name}", path)
    initramfs.file("modules/list", "".join(f"{path.name}\n" for path in paths))
    return initramfs.archive().content


def _files(folders: int) -> Iterator[tuple[str, Path | str]]:
    """Yield the disk's files: path, and content or a file of the host."""
    yield "bin/busybox", stages.busybox()
    yield "build", SCRIPTS / "build"
    for name, (package, inside) in FROM_PACKAGES.items():
        yield name, packages.unpacked(package) / inside
    for number in range(HEADERS):
        lines = (
            f"#define H{number}_{macro}(x) ((x) * {2 * macro + 1} + {number})\n"
            f"extern int h{number}_{macro}(int, struct h{number} *);\n"
            for macro in range(HEADER_MACROS)
        )
        yield f"include/h{number}.h", f"struct h{number} {{ int a, b; }};\n" + "".join(lines)
    for number in range(folders * SOURCES_PER_FOLDER):
        place = divmod(number, SOURCES_PER_FOLDER)
        yield f"src/d{place[0]:03}/f{place[1]}.c", _source(number)


def _source(number: int) -> str:
    """Return a source that includes some headers; names are unique in the whole program."""
    used = [(number * 7 + step * 13) % HEADERS for step in range(INCLUDED)]
    lines = [f'#include "h{header}.h"\n' for header in dict.fromkeys(used)]
    for function in range(FUNCTIONS):
        header, macro = used[function % INCLUDED], function % HEADER_MACROS
        lines.append(
            f"int f{number}_{function}(int n, int *sums)\n{{\n"
            "\tint i, sum = 0;\n\n"
            "\tfor (i = 0; i < n; i++) {\n"
            f"\t\tsum += H{header}_{macro}(sums[i] ^ i);\n"
            f"\t\tif (sum & {1 << function % 30})\n\t\t\tsums[i] = sum / (i + {function + 1});\n"
            "\t}\n\treturn sum;\n}\n\n"
        )
    return "".join(lines)
