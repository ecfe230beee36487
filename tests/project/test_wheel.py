# SPDX-License-Identifier: MIT
"""The wheel is whole: the quick tests pass with it, in an empty folder, without the checkout."""

import os
import re
import signal
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest
from built_page import built
from places import CHECKOUT

from manual import man

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]

MOST_BYTES = 5_000_000
QUICK = "not vm and not slow and not thorough"


@dataclass(frozen=True)
class Installed:
    """The wheel, and an environment of Python that contains nothing else of this project."""

    wheel: Path
    python: Path

    def run(
        self, words: Sequence[str], folder: Path, path: str
    ) -> subprocess.CompletedProcess[str]:
        """Run one of the environment's programs in a folder, with its own home and this PATH."""
        environment = {"HOME": str(folder), "PATH": path, "LANG": "C.UTF-8"}
        command = [str(self.python.with_name(words[0])), *words[1:]]
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Build the wheel and install it; the libraries that it needs are the checkout's."""
    folder = tmp_path_factory.mktemp("wheel")
    man.write()
    built(tmp_path_factory)
    for used in ("understudy_devices", "sim"):  # as a checkout is that somebody works in
        (CHECKOUT / used / "__pycache__").mkdir(exist_ok=True)
        (CHECKOUT / used / "__pycache__" / "used.cpython-311.pyc").write_bytes(b"")
    pip = [sys.executable, "-m", "pip", "-q"]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, CHECKOUT],
        env={**os.environ, "PATH": path},
        check=True,
    )
    (wheel,) = folder.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    subprocess.run([*pip, "--python", python, "install", "--no-deps", wheel], check=True)
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    return Installed(wheel, python)


def test_its_size_and_its_files(installed: Installed) -> None:
    names = zipfile.ZipFile(installed.wheel).namelist()
    assert installed.wheel.stat().st_size < MOST_BYTES
    assert "abi3" in installed.wheel.name
    assert [name for name in names if ".pyc" in name or "__pycache__" in name] == []
    for folder in (
        "assignments",
        "cards",
        "core",
        "docs",
        "guest",
        "host",
        "kernel",
        "profiles",
        "sim",
        "vesper",
    ):
        tracked = subprocess.run(
            ["git", "ls-files", folder], cwd=CHECKOUT, capture_output=True, text=True, check=True
        ).stdout.split()
        assert tracked
        assert {f"understudy_devices/sources/{name}" for name in tracked} <= set(names)
    shared = {name.partition(".data/data/share/man/man1/")[2] for name in names}
    assert set(man.pages()) <= shared


def test_it_knows_its_commit(installed: Installed, tmp_path: Path) -> None:
    """The wheel's command says what the checkout's says, without git."""
    here = subprocess.run(
        [Path(sys.executable).with_name("understudy"), "--version"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    there = installed.run(["understudy", "--version"], tmp_path, str(tmp_path / "nothing")).stdout
    assert re.fullmatch(r"understudy \d+\.\d+\.\d+ \([0-9a-f]{12}(-dirty)?\)\n", here)
    assert there == here


def test_the_simulator_needs_no_compiler(installed: Installed, tmp_path: Path) -> None:
    for words in (
        ["disks"],
        ["schedulers"],
        ["predict", "--workload", "random", "--processes", "8", "--requests", "200"],
        ["compare", "--workload", "poisson", "--rate", "40", "--requests", "100", "--seeds", "2"],
        ["policies"],
        [
            *("predict", "--workload", "concurrent-read", "--virtual-size", "128K"),
            *("--disk", "vesper-zoned-small", "--requests", "100", "--read-ahead", "4"),
            *("--prefetch", "amp", "--replacement", "2q"),
        ],
        ["card", "list"],
    ):
        done = installed.run(["understudy", *words], tmp_path, str(tmp_path / "nothing"))
        assert done.returncode == 0, (words, done.stderr)
        assert len(done.stdout.splitlines()) > 1, words


def test_the_studio_has_its_page(installed: Installed, tmp_path: Path) -> None:
    """Without the compiler, which has five times the size of all else."""
    names = zipfile.ZipFile(installed.wheel).namelist()
    pages = [name for name in names if name.startswith("understudy_devices/studio/page/")]
    assert {"index.html", "studio.html"} <= {Path(name).name for name in pages}
    assert not any("/compiler/" in name for name in pages)
    command = [str(installed.python.with_name("understudy")), "studio", str(tmp_path)]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as studio:
        assert studio.stdout
        try:
            link = studio.stdout.readline().strip()
            with urlopen(link.replace("studio.html", "")) as page:
                assert b"simulate a disk scheduler" in page.read()
        finally:
            studio.send_signal(signal.SIGINT)


PROGRAM = """
#include <stdio.h>
#include <vesper.h>
int main(void)
{
	return puts(vesper_profile_name(0)) < 0 || vesper_init(0, 0) != VESPER_NULL;
}
"""


def test_a_student_links_libvesper(installed: Installed, tmp_path: Path) -> None:
    """By pkg-config, and from the files that the command writes; no checkout is at hand."""
    (tmp_path / "use.c").write_text(PROGRAM)
    libraries = installed.python.parents[1] / "lib" / "pkgconfig"
    line = f"PKG_CONFIG_PATH={libraries} pkg-config --cflags --libs vesper"
    for words in (
        f"gcc use.c $({line}) -o use",
        f"{installed.python.with_name('understudy')} vesper --out disk --with example",
        "gcc -Idisk use.c disk/vesper.c -o use && ./use",
        "make -C disk && disk/concurrent_read",
    ):
        done = subprocess.run(
            words, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (words, done.stderr)


def test_quick_tests_pass(installed: Installed, tmp_path: Path) -> None:
    """Run a few quick tests of each file, without the checkout's package."""
    options = ["-q", "-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider", "-m", QUICK]
    options += ["-p", "few_of_each_file"]
    where = ["-c", str(CHECKOUT / "pyproject.toml"), "--rootdir", str(CHECKOUT)]
    tests = [str(CHECKOUT / "tests"), "--ignore", str(CHECKOUT / "tests" / "project")]
    done = installed.run(
        ["python", "-m", "pytest", *options, *where, *tests], tmp_path, os.environ["PATH"]
    )
    assert done.returncode == 0, done.stdout[-10_000:]
