# SPDX-License-Identifier: MIT
"""`understudy reproduce table3.1`, with few triangles: both ways draw the same picture, and the
paper's figures are beside ours.
"""

import json

import pytest
from click.testing import CliRunner
from guests import group

from understudy_devices.base.errors import UserError
from understudy_devices.cli.reproduce import command

pytestmark = group("drawing-table")


def invoke(*arguments: str) -> str:
    """Return what the command prints."""
    result = CliRunner().invoke(command, arguments, obj="reproduce", standalone_mode=False)
    if result.exception:
        raise result.exception
    return result.stdout


def test_both_ways() -> None:
    """The card takes longer than the rasteriser alone, and times grow with the size."""
    answer = json.loads(invoke("table3.1", "--triangles", "2000", "--json"))
    [found] = answer["results"]
    sizes = found["figures"]["sizes"]
    assert list(sizes) == ["20", "40", "60", "80", "100"]
    assert all(size["card_seconds"] > size["direct_seconds"] > 0 for size in sizes.values())
    assert sizes["100"]["direct_seconds"] > sizes["20"]["direct_seconds"]
    assert sizes["20"]["paper_slowdown"] == pytest.approx(35.17, abs=0.1)


@pytest.mark.parametrize(
    "arguments", [("table3.1", "--requests", "5"), ("table2", "--triangles", "5")]
)
def test_what_another_table_takes(arguments: tuple[str, ...]) -> None:
    """The error names the table that takes the option."""
    with pytest.raises(UserError, match="takes no --"):
        invoke(*arguments)
