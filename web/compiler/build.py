# SPDX-License-Identifier: MIT
"""Pack the compiler for the page: the files of @yowasp/clang that compile C.

Usage: python web/compiler/build.py FOLDER

The files are compressed, since many web servers send files as they are; the page decompresses them
(web/src/own/compile.ts).
"""

import gzip
import sys
import tarfile
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "node_modules/@yowasp/clang"
RESOURCES = "llvm-resources.tar"
LARGEST_HEADER = 60_000  # bytes; larger ones are for vector instructions
BLOCK = tarfile.BLOCKSIZE
LIBRARIES = (
    "lib/wasm32-unknown-wasip1/libclang_rt.builtins.a",
    "lib/wasm32-wasip1/crt1-reactor.o",
    "lib/wasm32-wasip1/libc.a",
)


def main() -> None:
    """Write the script as it is, and everything else compressed."""
    folder = Path(sys.argv[1])
    version = (PACKAGE / "package.json").read_text(encoding="utf-8")
    packed = folder / "package.json"
    if packed.exists() and packed.read_text(encoding="utf-8") == version and _is_newer(packed):
        return
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted((PACKAGE / "gen").iterdir()):
        if file.suffix == ".js":
            (folder / file.name).write_bytes(file.read_bytes())
            continue
        content = _for_c(file) if file.name == RESOURCES else file.read_bytes()
        (folder / f"{file.name}.gz").write_bytes(gzip.compress(content, mtime=0))
    packed.write_text(version, encoding="utf-8")  # at the end: everything is complete


def _is_newer(file: Path) -> bool:
    return file.stat().st_mtime >= Path(__file__).stat().st_mtime


def _for_c(resources: Path) -> bytes:
    """Return the headers and libraries that a C program needs, as a tar file."""
    every = resources.read_bytes()
    with tarfile.open(resources) as members:
        kept = [
            every[member.offset : member.offset_data + -(-member.size // BLOCK) * BLOCK]
            for member in members
            if _is_for_c(member)
        ]
    return b"".join(kept) + bytes(2 * BLOCK)


def _is_for_c(member: tarfile.TarInfo) -> bool:
    if member.name.startswith("lib/") and member.isfile():
        return member.name in LIBRARIES
    return not member.name.startswith("include/c++") and member.size <= LARGEST_HEADER


if __name__ == "__main__":
    main()
