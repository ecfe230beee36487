# SPDX-License-Identifier: MIT
"""`understudy card`: its output; its schema and documentation list the same keys as the loader."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from places import CHECKOUT

from understudy_devices.base.paths import cards_dir
from understudy_devices.cards import mistakes, model, specification
from understudy_devices.cli.card import command

MODELS: list[type[model.Section]] = [model.Card, model.Ring, *mistakes.SECTIONS.values()]


def card(*words: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(command, words, standalone_mode=False)


def test_the_list() -> None:
    names = [line.split()[0] for line in card("list").output.splitlines()]
    assert {"copier", "zach1"} <= set(names) == {file.stem for file in cards_dir().glob("*.yaml")}
    assert [entry["name"] for entry in json.loads(card("list", "--json").output)] == names


@pytest.mark.parametrize("name", specification.catalogue())
def test_a_card_is_shown_whole(name: str) -> None:
    output = card("show", name).output
    whole = json.loads(card("show", name, "--json").output)
    for register in whole["registers"]:
        assert re.search(rf" {register['name']} .* {register['offset']:#05x} ", output)
    text = (cards_dir() / f"{name}.yaml").read_text()
    assert len(whole["registers"]) == len(re.findall(r"^    offset:", text, re.MULTILINE))


def test_what_is_shown_as_json_is_a_specification() -> None:
    output = card("show", "zach1", "--json").output
    assert specification.parse("x.yaml", output.encode()) == specification.load("zach1")


def test_check_tells_all_mistakes(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    text = (cards_dir() / "copier.yaml").read_text()
    file.write_text(
        text.replace("bytes: 4096", "bytes: 5000").replace("vendor: 0x1d55", "vendor: x")
    )
    result = card("check", str(file))
    assert result.return_value == 2
    assert [line.split(": ")[0] for line in result.stderr.splitlines()] == [
        f"{file}:{number}" for number in (14, 16, 28)
    ]
    result = card("check", str(file), "--json")
    assert result.return_value == 2
    assert [one["line"] for one in json.loads(result.stdout)["mistakes"]] == [14, 16, 28]


def test_check_of_a_right_one() -> None:
    result = card("check", "zach1")
    assert result.return_value == 0
    assert result.output.endswith("zach1.yaml: a card with 31 registers, no mistakes\n")
    assert json.loads(card("check", "zach1", "--json").output)["mistakes"] == []


def test_the_schema_has_the_keys_of_the_loader() -> None:
    schema: dict[str, Any] = json.loads(card("schema").output)
    definitions = schema["$defs"] | {"Card": schema}
    for section in MODELS:
        definition = definitions[section.__name__]
        assert set(definition["properties"]) == set(section.model_fields)
        assert definition["additionalProperties"] is False
        needed = {key for key, field in section.model_fields.items() if field.is_required()}
        assert set(definition.get("required", ())) == needed


def test_the_page_has_the_keys_of_the_loader() -> None:
    page = (CHECKOUT / "docs" / "cards.md").read_text()
    for section in MODELS:
        for key in section.model_fields:
            assert re.search(rf"\| .*`{key}\b", page), f"{section.__name__}: {key}"


@pytest.mark.parametrize("name", ["list", "check", "show", "generate", "import", "schema"])
def test_help_has_an_example(name: str) -> None:
    assert f"Example: understudy card {name}" in card(name, "--help").output
