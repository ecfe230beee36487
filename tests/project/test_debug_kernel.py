# SPDX-License-Identifier: MIT
"""The debug kernel: its configuration, and which tests run on it (docs/kernels.md)."""

import os
import subprocess
from pathlib import Path

import pytest
from places import CHECKOUT

FRAGMENT = "CONFIG_KASAN=y\n# of memory\nCONFIG_SCSI_DEBUG=m\n# CONFIG_ATA is not set\n"
FRAGMENT += 'CONFIG_LOCALVERSION="-debug"\n'
WHOLE = "# x86\nCONFIG_KASAN=y\nCONFIG_SCSI_DEBUG=m\nCONFIG_ATA=y\n"


def checked(folder: Path, config: str) -> subprocess.CompletedProcess[str]:
    (folder / "fragment").write_text(FRAGMENT)
    (folder / "config").write_text(config)
    command = [str(CHECKOUT / "scripts" / "check-kernel-config"), "fragment", "config"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_configuration_that_has_all(tmp_path: Path) -> None:
    assert checked(tmp_path, WHOLE).returncode == 0


@pytest.mark.parametrize(
    "config",
    [
        WHOLE.replace("CONFIG_KASAN=y", "# CONFIG_KASAN is not set"),
        WHOLE.replace("CONFIG_KASAN=y", "CONFIG_KASAN_SW_TAGS=y"),
        WHOLE.replace("CONFIG_KASAN=y", "CONFIG_HAVE_ARCH_CONFIG_KASAN=y"),
    ],
)
def test_what_a_configuration_lacks_is_named(tmp_path: Path, config: str) -> None:
    """KASAN was once left out of the kernel without a warning, since SLUB was missing."""
    done = checked(tmp_path, config)
    assert done.returncode == 1
    assert done.stderr == "config lacks options that fragment sets: CONFIG_KASAN=y\n"


def in_makefile(name: str) -> list[str]:
    """Return the words of a variable of the Makefile.

    The variables of a make that runs this test are removed from the environment.
    """
    show = ["make", "--no-print-directory", f"--eval=show:;@echo $({name})", "show"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    done = subprocess.run(
        show, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_every_test_in_a_vm_is_run_on_it_or_left_out() -> None:
    """Each file of tests is listed once, and each name in the lists has a file."""
    named = in_makefile("DEBUG_TESTS") + in_makefile("LEFT_OUT")
    files = (CHECKOUT / "tests" / "vm").glob("test_*.py")
    assert sorted(named) == sorted(file.stem.removeprefix("test_") for file in files)
