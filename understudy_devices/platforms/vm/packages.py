# SPDX-License-Identifier: MIT
"""The stock kernel, and the files to build modules for it, from Debian's packages.

Nothing is installed: packages are fetched by name in their current version and unpacked into the
cache.  They are packages for amd64 on every host, except for the programs that build modules
(linux-kbuild): Debian's packages of these for other hosts build modules for x86, too.
UNDERSTUDY_KERNEL names another series of Debian's kernels (6.12), or a folder with a kernel in the
same layout (scripts/debug-kernel makes one).
"""

import contextlib
import errno
import json
import lzma
import os
import re
import shutil
import struct
import subprocess
import tarfile
import threading
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, cast

import zstandard

from understudy_devices.base.cache import cached_folder, digest
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.paths import IS_X86, cache_dir

GUEST_ARCHITECTURE = "amd64"
META_PACKAGE = f"linux-image-{GUEST_ARCHITECTURE}"
OWN_KERNEL = "UNDERSTUDY_KERNEL"
SERIES = r"\d+\.\d+"
TRIED = ("6.1", "6.12")
"""The series on which all tests of modules were run."""
APT_DECIDES = tuple(
    Path(path)
    for path in (
        "/var/lib/apt/lists",
        "/etc/apt/sources.list",
        "/etc/apt/sources.list.d",
        "/etc/apt/preferences",
        "/etc/apt/preferences.d",
    )
)
Report = Callable[[str, float], None]


@dataclass(frozen=True)
class Kernel:
    """An unpacked kernel.

    release is the output of `uname -r`; version is the package's version.
    """

    release: str
    version: str
    folder: Path

    def has(self, option: str) -> bool:
        """Return whether the kernel was built with an option, such as CONFIG_KASAN."""
        return f"{option}=y" in (self.headers / ".config").read_text().splitlines()

    @property
    def looks_at_each_access(self) -> bool:
        """Return whether the kernel checks each memory access, which makes everything some ten
        times slower.
        """
        return self.has("CONFIG_KASAN")

    @property
    def image(self) -> Path:
        """Return the path of the kernel that QEMU starts; it is unpacked once here, not in every
        guest.
        """
        return self.folder / "boot" / f"vmlinux-{self.release}"

    @property
    def packed_image(self) -> Path:
        return self.folder / "boot" / f"vmlinuz-{self.release}"

    @property
    def modules(self) -> Path:
        """Return the folder of the kernel's own modules; Debian 13 has it below /usr."""
        place = Path("lib") / "modules" / self.release / "kernel"
        merged = self.folder / "usr" / place
        return merged if merged.is_dir() else self.folder / place

    @property
    def headers(self) -> Path:
        return self.folder / "usr" / "src" / f"linux-headers-{self.release}"

    @property
    def series(self) -> str:
        """Return the kernel's series, in the notation of TRIED."""
        return ".".join(self.release.split(".")[:2])

    @property
    def private_headers(self) -> Path:
        return self.folder / "private"


def _show(package: str) -> dict[str, str]:
    """Return the fields of a package that apt knows; empty if apt does not know the package."""
    answer = subprocess.run(
        ["apt-cache", "show", "--no-all-versions", package],
        capture_output=True,
        text=True,
        check=False,
    )
    pairs = (line.split(": ", 1) for line in answer.stdout.splitlines() if ": " in line)
    return {pair[0]: pair[1] for pair in pairs if not pair[0].startswith(" ")}


def _of_guest(package: str) -> str:
    """Return the name of a package for the guest's architecture."""
    return f"{package}:{GUEST_ARCHITECTURE}"


def _meta_package() -> str:
    """Return the package that depends on the newest kernel of the wanted series."""
    choice = os.environ.get(OWN_KERNEL, "")
    return f"linux-image-{choice}-amd64" if re.fullmatch(SERIES, choice) else META_PACKAGE


def _newest_cached() -> Kernel | None:
    series = _meta_package().removeprefix("linux-image-").removesuffix("amd64").rstrip("-")
    folders = sorted(
        (cache_dir() / "kernel").glob(f"{series or '[!.]'}*_*"),
        key=lambda folder: folder.stat().st_mtime,
    )
    if not folders:
        return None
    release, version = folders[-1].name.split("_", 1)
    return Kernel(release, version, folders[-1])


def _apt_state() -> bytes:
    """Return a value that changes whenever apt's answers may have changed."""
    states = []
    for path in APT_DECIDES:
        with contextlib.suppress(OSError):
            states.append(f"{path} {path.stat().st_mtime_ns}")
    return "\n".join(states).encode()


def _own_kernel() -> Kernel | None:
    """Return the kernel that the environment names; None if it names none."""
    choice = os.environ.get(OWN_KERNEL)
    if not choice or re.fullmatch(SERIES, choice):
        return None
    folder = Path(choice).absolute()
    release, underscore, version = folder.name.partition("_")
    kernel = Kernel(release, version, folder)
    if not underscore or not kernel.image.is_file():
        form = "RELEASE_VERSION/boot/vmlinux-RELEASE"
        raise UserError(f"{OWN_KERNEL}={choice}: no {form}: scripts/debug-kernel makes one")
    return kernel


def current_kernel() -> Kernel:
    """Return the kernel named by the environment, or the current version in Debian's packages.

    The kernel may not have been fetched yet.

    apt needs half a second, so its answer is cached until apt's lists change.
    """
    own = _own_kernel()
    if own:
        return own
    top = cache_dir() / "kernel"
    answer = top / f".apt-{digest([_meta_package().encode(), _apt_state()])}"
    with contextlib.suppress(OSError, ValueError):
        release, version, name = json.loads(answer.read_text())
        return Kernel(release, version, top / name)
    kernel = _ask_apt()
    with contextlib.suppress(OSError):
        top.mkdir(exist_ok=True)
        fresh = answer.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
        fresh.write_text(json.dumps([kernel.release, kernel.version, kernel.folder.name]))
        fresh.replace(answer)
    return kernel


def _ask_apt() -> Kernel:
    if shutil.which("apt-cache") is None:
        cached = _newest_cached()
        if cached:
            return cached
        raise UserError("no apt here to find the kernel package: understudy's VM needs Debian")
    meta = _meta_package()
    match = re.match(r"linux-image-(\S+)", _show(_of_guest(meta)).get("Depends", ""))
    if not match:
        cached = _newest_cached()
        if cached:
            return cached
        foreign = "" if IS_X86 else f"dpkg --add-architecture {GUEST_ARCHITECTURE}, then "
        raise UserError(f"apt does not know {meta}: run {foreign}apt-get update")
    release = match.group(1).rstrip(",")
    version = _show(_of_guest(f"linux-image-{release}")).get("Version", "unknown")
    folder = cache_dir() / "kernel" / f"{release}_{version.replace(':', '-')}"
    return Kernel(release, version, folder)


def _package_names(kernel: Kernel) -> list[str]:
    """Return the names of the packages to unpack for a kernel.

    The package of sources, which contains the private headers, must have the kernel's version.
    """
    headers = _of_guest(f"linux-headers-{kernel.release}")
    needed = re.findall(r"linux-(?:headers|kbuild)-[^\s,]+", _show(headers).get("Depends", ""))
    source = f"linux-source-{kernel.series}"
    source_version = re.sub(r"\+b\d+$", "", kernel.version)
    image = _of_guest(f"linux-image-{kernel.release}")
    return [image, headers, *needed, f"{source}={source_version}"]


def _download(package: str, folder: Path) -> Path:
    answer = subprocess.run(
        ["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", package],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    _check_room(answer.stderr, folder)
    debs = list(folder.glob(f"{re.split('[:=]', package)[0]}_*.deb"))
    if answer.returncode or not debs:
        reason = (answer.stderr.strip().splitlines() or ["no answer"])[-1]
        raise UserError(f"can't fetch {package} ({reason}): run apt-get update, check the network")
    return debs[0]


def _check_room(message: str, folder: Path) -> None:
    """Raise OSError if a program's message says that the disk is full."""
    if os.strerror(errno.ENOSPC) in message:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))


def _unpack(deb: Path, folder: Path) -> None:
    command = ["dpkg-deb", "-x", str(deb), str(folder)]
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        _check_room(done.stderr, folder)
        raise RunFailed(f"can't unpack {deb.name}: {' '.join(done.stderr.split())}")


def _unpack_block_headers(deb: Path, folder: Path) -> None:
    """Unpack only block/*.h, the block layer's private headers, from the kernel's source."""
    folder.mkdir()
    unpacking = ["dpkg-deb", "--fsys-tarfile", str(deb)]
    with subprocess.Popen(unpacking, stdout=subprocess.PIPE) as data:
        with tarfile.open(fileobj=data.stdout, mode="r|") as outer:
            source = next(member for member in outer if member.name.endswith(".tar.xz"))
            stream = cast(IO[bytes], outer.extractfile(source))
            with tarfile.open(fileobj=lzma.open(stream), mode="r|") as tree:
                _copy_headers(tree, folder)
        data.kill()


def _copy_headers(tree: tarfile.TarFile, folder: Path) -> None:
    seen = False
    for member in tree:
        inside = member.name.split("/", 1)[-1]
        if inside.startswith("block/"):
            seen = True
            if re.fullmatch(r"block/[^/]+\.h", inside):
                content = cast(IO[bytes], tree.extractfile(member)).read()
                (folder / Path(inside).name).write_bytes(content)
        elif seen:
            return


def unpack_image(packed: bytes) -> bytes:
    """Return the ELF kernel inside a bzImage (Linux x86 boot protocol, from 2.08 on).

    If the kernel unpacked itself under TCG, that would be half of a guest's boot time. Raises
    RunFailed if this is not a bzImage or its payload is neither xz, gzip nor zstd.
    """
    if packed[0x202:0x206] != b"HdrS":
        raise RunFailed("the kernel package's image is not a bzImage")
    protected_mode = (packed[0x1F1] + 1) * 512
    offset, length = struct.unpack_from("<II", packed, 0x248)
    payload = packed[protected_mode + offset :][:length]
    unpacker: Any
    if payload.startswith(b"\xfd7zXZ"):
        unpacker = lzma.LZMADecompressor()
    elif payload.startswith(b"\x1f\x8b"):
        unpacker = zlib.decompressobj(wbits=31)
    elif payload.startswith(zstandard.FRAME_HEADER):
        unpacker = zstandard.ZstdDecompressor().decompressobj()
    else:
        raise RunFailed("the kernel package's image is packed neither with xz, gzip nor zstd")
    try:
        unpacked: bytes = unpacker.decompress(payload)
    except (lzma.LZMAError, zlib.error, zstandard.ZstdError) as error:
        raise RunFailed(f"the kernel package's image is damaged: {error}") from error
    if not unpacker.eof:
        raise RunFailed("the kernel package's image is damaged: it is cut off")
    return unpacked


def _unpack_module(packed: Path) -> None:
    packed.with_suffix("").write_bytes(lzma.decompress(packed.read_bytes()))
    packed.unlink()


def _unpack_modules(folder: Path) -> None:
    """Unpack modules; newer kernels compress each module."""
    with ThreadPoolExecutor() as threads:
        list(threads.map(_unpack_module, folder.rglob("*.ko.xz")))


def _point_at(root: Path, file: Path) -> None:
    """Prefix the absolute include paths in a file of the headers with a root."""
    text = file.read_text()
    file.unlink()
    file.write_text(text.replace("/usr/src/", f"{root}/usr/src/"))


def _fetch(kernel: Kernel, report: Report, folder: Path) -> None:
    debs = folder / "debs"
    debs.mkdir()
    names = _package_names(kernel)
    for done, name in enumerate(names):
        report(f"fetching {name}", done / len(names))
        deb = _download(name, debs)
        if name.startswith("linux-source"):
            report("unpacking the block layer's headers", 0.9)
            _unpack_block_headers(deb, folder / "private")
        else:
            _unpack(deb, folder)
            _unpack_modules(folder)
        deb.unlink()
    debs.rmdir()
    unpacked = Kernel(kernel.release, kernel.version, folder)
    unpacked.image.write_bytes(unpack_image(unpacked.packed_image.read_bytes()))
    _point_at(kernel.folder, unpacked.headers / "Makefile")


def fetch_kernel(report: Report = lambda phase, fraction: None) -> Kernel:
    """Return the current kernel, unpacked; fetch it if this version is missing."""
    kernel = current_kernel()
    if not kernel.folder.is_relative_to(cache_dir()):
        return kernel
    name = str(kernel.folder.relative_to(cache_dir()))
    cached_folder(name, lambda folder: _fetch(kernel, report, folder))
    return kernel


@cache
def unpacked(package: str) -> Path:
    """Return the folder of a package for the guest's architecture, unpacked in the cache; apt is
    asked once per command.
    """
    version = _show(_of_guest(package)).get("Version", "unknown").replace(":", "-")

    def fetch(folder: Path) -> None:
        deb = _download(_of_guest(package), folder)
        _unpack(deb, folder)
        deb.unlink()

    return cached_folder(f"packages/{package}_{version}", fetch)
