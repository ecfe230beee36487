# SPDX-License-Identifier: MIT
"""`understudy place --today`: what it reads, and what it refuses."""

import json
from pathlib import Path

import pytest

from understudy_devices.api.place_constraints import rules
from understudy_devices.api.place_today import Homes, homes
from understudy_devices.base.errors import UserError
from understudy_devices.consolidation.placement.answer import SCHEMA
from understudy_devices.consolidation.placement.today import NEW, Today

DEVICES = ["a", "b"]
VMS = ["web", "web#2", "mail", "db"]
PAIRS = "web=a,web#2=b,mail=b"
EXPECTED = {"web": "a", "web#2": "b", "mail": "b"}
RESULT = {
    "schema": SCHEMA,
    "devices": [
        {"name": "a", "vms": [{"name": "web"}]},
        {"name": "b", "vms": [{"name": "web#2"}, {"name": "mail"}]},
    ],
}


@pytest.mark.parametrize(
    "content",
    [PAIRS, "web=a\nweb#2=b\n\nmail=b\n", "web#2=b web=a\r\nmail=b", json.dumps(RESULT)],
)
def test_a_file_is_read_like_the_option(content: str, tmp_path: Path) -> None:
    file = tmp_path / "today"
    file.write_text(content)
    assert homes(str(file), DEVICES, VMS, 3) == homes(PAIRS, DEVICES, VMS, 3) == Homes(EXPECTED, 3)


def test_a_name_stands_for_copies_and_other_vms_are_new() -> None:
    where = homes("web#2=a,web=b", DEVICES, VMS, None)
    assert where is not None
    assert where.on(DEVICES, VMS, {}) == Today((1, 0, NEW, NEW))
    sizes = dict.fromkeys(VMS, 5.0)
    assert where.on(DEVICES, ["db", "web"], sizes) == Today((NEW, 1), (5.0, 5.0))
    assert homes("", DEVICES, VMS, None) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("web=c", "--today: web=c: no device is called c; there are a, b; a VM that is on none"),
        ("x=a", "--today: no VM is called x; there are web"),
        ("web=a,web=b", "web is named twice"),
        ("web", "web: no such file of text"),
        ("empty", "empty: empty; write NAME=DEVICE"),
        ("words", "words: web: write NAME=VALUE"),
        ("bytes", "bytes: no such file of text"),
        ("broken", "broken: not a result.json of place"),
        ("other", "other: not a result.json of place"),
        ("nothing", "nothing: it has no assignment"),
    ],
)
def test_what_is_wrong_is_one_line(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").write_text("\n")
    Path("words").write_text("web on a\n")
    Path("bytes").write_bytes(b"\xff\xfe=a\n")
    Path("broken").write_text('{"schema": ')
    Path("other").write_text('{"schema": "understudy.consolidation/1", "devices": []}')
    Path("nothing").write_text(json.dumps({"schema": SCHEMA, "devices": []}))
    with pytest.raises(UserError) as error:
        homes(text, DEVICES, VMS, None)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_limit_on_moves_needs_a_placement_of_today() -> None:
    with pytest.raises(UserError, match="--moves-at-most: needs --today"):
        homes("", DEVICES, VMS, 2)


def test_sizes_are_of_use_without_capacities() -> None:
    sizes = "web=1,mail=2,db=3"
    checked = rules(DEVICES, VMS, "", sizes, [], [], sizes_suffice=True)
    assert checked.sizes_gb == {"web": 1, "web#2": 1, "mail": 2, "db": 3}
    assert not checked.on(DEVICES, VMS)
    with pytest.raises(UserError, match="VM mail has no size"):
        rules(DEVICES, VMS, "", "web=1,db=3", [], [], sizes_suffice=True)
