# SPDX-License-Identifier: MIT
"""The files that `understudy card generate` writes compile against the stock kernel, unchanged and
without warnings.

The examples of the programmer's manual, joined, do so as well.
"""

import os
import subprocess
from pathlib import Path

import pytest
from card_texts import GOOD, RandomCard
from click.testing import CliRunner
from manual_code import code

from understudy_devices.cards import specification
from understudy_devices.cards.driver import part
from understudy_devices.cli.card import command
from understudy_devices.platforms.vm import packages
from understudy_devices.show.card.programmer import programmers_manual

TEXTS = {name: file.read_text() for name, file in specification.catalogue().items()}
TEXTS |= {"tiny": GOOD}
TEXTS |= {f"random{seed}": RandomCard(seed).text for seed in (3, 5)}
SLOW = ("copier", "random5")
SOME = [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in TEXTS]
STRICT = "-Werror -Wunused-function -Wunused-variable -Wunused-label"


def make(folder: Path) -> list[str]:
    """Return the modules that `make` builds in a folder."""
    headers = packages.fetch_kernel().headers
    done = subprocess.run(
        ["make", f"KERNEL={headers}", f"KCFLAGS={STRICT}", "CONFIG_DEBUG_INFO_BTF_MODULES="],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MAKEFLAGS": ""},
    )
    assert not done.returncode, done.stderr[-3000:]
    return sorted(module.name for module in folder.glob("*.ko"))


@pytest.mark.parametrize("name", SOME)
def test_driver_and_selftest_build(name: str, tmp_path: Path) -> None:
    card = tmp_path / f"{name}.yaml"
    card.write_text(TEXTS[name])
    out = tmp_path / "out"
    words = ["generate", str(card), "--out", str(out)]
    CliRunner().invoke(command, words, standalone_mode=False, catch_exceptions=False)
    assert make(out) == [f"{name}_driver.ko", f"{name}_selftest.ko"]


@pytest.mark.parametrize("name", SOME)
def test_the_code_of_the_programmers_manual_builds(name: str, tmp_path: Path) -> None:
    card = tmp_path / f"{name}.yaml"
    card.write_text(TEXTS[name])
    out = tmp_path / "out"
    words = ["generate", str(card), "--out", str(out)]
    CliRunner().invoke(command, words, standalone_mode=False, catch_exceptions=False)
    loaded = specification.load(card)
    examples = code(programmers_manual(loaded)).replace("static ", "static __maybe_unused ")
    parts = [part(loaded, "includes"), examples, part(loaded, "module")]
    (out / f"{name}_driver.c").write_text("\n".join(parts))
    assert make(out) == [f"{name}_driver.ko", f"{name}_selftest.ko"]
