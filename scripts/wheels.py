# SPDX-License-Identifier: MIT
"""Build the wheels for x86-64 and ARM (aarch64), and the source distribution, in dist/.

Zig, from PyPI, compiles both on either machine, against glibc 2.28.  The wheels also contain the
file system that the default disk has, because making one needs a compiler and e2fsprogs, the man
pages, and the studio's page without its compiler.

Usage: .venv/bin/python scripts/wheels.py [x86_64|aarch64 ...]
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
TOOLS = ("ziglang==0.17.1", "wheel", "meson", "meson-python", "ninja", "cffi", "auditwheel")
GLIBC = "2.28"
MACHINES = ("x86_64", "aarch64")
WORK = CHECKOUT / "build" / "wheels"
IMAGES = CHECKOUT / "build" / "images"  # meson.build installs it
PAGE = CHECKOUT / "build" / "studio"  # and this
DIST = CHECKOUT / "dist"

CROSS = """\
[binaries]
c = ['{python}', '-m', 'ziglang', 'cc', '-target', '{machine}-linux-gnu.{glibc}']
ar = ['{python}', '-m', 'ziglang', 'ar']
strip = ['true']
[built-in options]
c_link_args = ['-lunwind', '-s']
[host_machine]
system = 'linux'
cpu_family = '{machine}'
cpu = '{machine}'
endian = 'little'
"""


def main() -> None:
    """Build what the command line names, or everything."""
    machines = sys.argv[1:] or MACHINES
    if wrong := set(machines) - set(MACHINES):
        raise SystemExit(f"wheels: {', '.join(sorted(wrong))}: choose from {', '.join(MACHINES)}")
    _put_image()
    subprocess.run([sys.executable, CHECKOUT / "web/build.py", PAGE], check=True)
    subprocess.run([sys.executable, "-m", "manual", "man"], cwd=CHECKOUT, check=True)
    tools = _tools()
    DIST.mkdir(exist_ok=True)
    for machine in machines:
        print(_wheel(machine, tools))
    print(_source(tools))


def _put_image() -> None:
    """Put the default disk's file system where meson finds it."""
    from understudy_devices.ask.device import Device
    from understudy_devices.files import image

    size = Device.__dataclass_fields__["virtual_bytes"].default
    built = image.build(size, lambda phase, fraction: None)
    shutil.rmtree(IMAGES, ignore_errors=True)
    shutil.copytree(built.folder, IMAGES / f"{size}-{image.IMAGE_SEED}")


def _tools() -> Path:
    """Return the Python of an environment that has the build's tools."""
    python = WORK / "tools" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", WORK / "tools"], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *TOOLS], check=True)
    return python


def _wheel(machine: str, python: Path) -> Path:
    """Build one wheel; return its path."""
    cross = WORK / f"{machine}.ini"
    cross.write_text(CROSS.format(python=python, machine=machine, glibc=GLIBC))
    out = WORK / machine
    shutil.rmtree(out, ignore_errors=True)
    environment = {**_environment(python), "_PYTHON_HOST_PLATFORM": f"linux-{machine}"}
    kind = "--cross-file" if machine != os.uname().machine else "--native-file"
    command = [
        *(python, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"),
        *("-C", f"setup-args={kind}={cross}", "-w", out, CHECKOUT),
    ]
    subprocess.run(command, env=environment, check=True)
    (plain,) = out.glob("*.whl")
    if machine == os.uname().machine:  # auditwheel knows only the machine that it runs on
        _check(plain, python)
    platform = f"manylinux_{GLIBC.replace('.', '_')}_{machine}"
    tagged = subprocess.run(
        [python, "-m", "wheel", "tags", "--remove", "--platform-tag", platform, plain],
        check=True,
        capture_output=True,
        text=True,
    )
    name = tagged.stdout.split()[-1]
    return Path(shutil.move(out / name, DIST / name))


def _check(wheel: Path, python: Path) -> None:
    """Stop if the wheel needs a newer C library than its name will say."""
    command = [python, "-m", "auditwheel", "show", wheel]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    fits = re.search(r"manylinux_(\d+)_(\d+)_", shown)
    if not fits or tuple(map(int, fits.groups())) > tuple(map(int, GLIBC.split("."))):
        raise SystemExit(f"wheels: {wheel.name} does not fit glibc {GLIBC}:\n{shown}")


def _source(python: Path) -> Path:
    """Build the source distribution, of what git has committed; return its path."""
    line = f"import mesonpy; print(mesonpy.build_sdist({str(DIST)!r}))"
    done = subprocess.run(
        [python, "-c", line],
        cwd=CHECKOUT,
        env=_environment(python),
        check=True,
        capture_output=True,
        text=True,
    )
    return DIST / done.stdout.split()[-1]


def _environment(python: Path) -> dict[str, str]:
    return {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}"}


if __name__ == "__main__":
    main()
