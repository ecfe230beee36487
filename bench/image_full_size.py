# SPDX-License-Identifier: MIT
"""Build the papers' file system at full size, a million files on 73.4 GB, and time it.

    python bench/image_full_size.py [--bytes 73400000000] [--seed 1] [--check]

The build is a new one, in a scratch folder.  --check also restores the compact image
onto a sparse file and runs e2fsck on that.
"""

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from understudy.base import programs
from understudy.files import image
from understudy.platforms.vm import guest_programs


def main() -> int:
    """Build, print, and check if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bytes", type=int, default=int(image.PAPER_DISK_BYTES))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["XDG_CACHE_HOME"] = scratch
        began = time.monotonic()
        made = image.build(options.bytes, _progress, options.seed)
        print(f"{'build_seconds':18} {time.monotonic() - began:.1f}")
        for name, value in asdict(made.facts).items():
            print(f"{name:18} {value}")
        print(f"{'blocks_bytes':18} {made.blocks.stat().st_size}")
        print(f"{'gzipped_bytes':18} {_gzipped(made.blocks)}")
        return _check(made, Path(scratch) / "disk") if options.check else 0


def _progress(phase: str, fraction: float) -> None:
    if sys.stderr.isatty():
        print(f"\r{fraction:4.0%} {phase:40}", end="", file=sys.stderr, flush=True)


def _gzipped(path: Path) -> int:
    with path.open("rb") as content:
        chunks = iter(lambda: content.read(2**24), b"")
        return sum(len(gzip.compress(chunk, 6)) for chunk in chunks)


def _check(made: image.Image, disk: Path) -> int:
    with disk.open("wb") as empty:
        empty.truncate(made.facts.image_bytes)
    began = time.monotonic()
    restore = programs.compiled(guest_programs.BY_NAME["restore"])
    subprocess.run([restore, made.blocks, disk], check=True, stdout=subprocess.DEVNULL)
    print(f"{'restore_seconds':18} {time.monotonic() - began:.1f}")
    began = time.monotonic()
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    checked = subprocess.run(["e2fsck", "-fn", disk], env=os.environ | {"PATH": path}, check=False)
    print(f"{'e2fsck_seconds':18} {time.monotonic() - began:.1f}")
    print(f"{'e2fsck':18} {'clean' if checked.returncode == 0 else 'NOT CLEAN'}")
    return 1 if checked.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
