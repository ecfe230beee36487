# SPDX-License-Identifier: MIT
"""The generated header of a card compiles as C and C++ without warnings, and defines the
specification's values."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from understudy_devices.base.paths import cards_dir
from understudy_devices.cards import specification
from understudy_devices.cards.header import header

COMPILERS = {"c": ["gcc", "-std=c11"], "cc": ["g++", "-std=c++11"]}
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]


def values(card: str) -> Iterator[tuple[str, int]]:
    """Yield the expected C names and values, read from the YAML without the loader."""
    with (cards_dir() / f"{card}.yaml").open() as file:
        document: dict[str, Any] = YAML(typ="safe", pure=True).load(file)
    yield f"{card}_DEVICE_ID".upper(), document["config"]["device"]
    for register in document["registers"]:
        prefix = f"{card}_{register['name']}".upper()
        yield prefix, register["offset"]
        initial = register.get("reset", 0)
        for field in register.get("fields", ()):
            ends = [int(end) for end in str(field["bits"]).split(":")]
            name = f"{prefix}_{field['name']}"
            yield f"{name}_SHIFT", ends[-1]
            yield f"{name}_MASK", sum(1 << bit for bit in range(ends[-1], ends[0] + 1))
            initial += 2 ** ends[-1] * field.get("reset", 0)
            for entry in field.get("values", ()):
                yield f"{name}_{entry['name']}", entry["value"]
        yield f"{prefix}_RESET_VALUE", initial


@pytest.mark.parametrize("language", COMPILERS)
@pytest.mark.parametrize("card", specification.catalogue())
def test_it_compiles_and_has_the_figures(card: str, language: str, tmp_path: Path) -> None:
    (tmp_path / f"{card}_registers.h").write_text(header(specification.load(card)))
    expected = list(values(card))
    assert len(expected) > 5
    word = "_Static_assert" if language == "c" else "static_assert"
    program = tmp_path / f"program.{language}"
    program.write_text(
        f'#include "{card}_registers.h"\n#include "{card}_registers.h"\n'
        + "".join(f'{word}({name} == {value}ull, "{name}");\n' for name, value in expected)
    )
    compiled = subprocess.run(
        [*COMPILERS[language], *STRICT, program], capture_output=True, text=True, check=False
    )
    assert not compiled.returncode, compiled.stderr


def test_texts_cannot_leave_their_comment(tmp_path: Path) -> None:
    text = (cards_dir() / "copier.yaml").read_text()
    hostile = text.replace("The operation.", "ends */ int x; /* here\\")
    wide = hostile.replace("bits: 1:0", "bits: 31:0").replace("value: 2", "value: 0xffffffff", 1)
    program = tmp_path / "program.c"
    program.write_text(header(specification.parse("x.yaml", wide.encode())) + "int x = 1;\n")
    subprocess.run(["gcc", "-std=c11", *STRICT, program], check=True)
