# SPDX-License-Identifier: MIT
"""The card zach1, rebuilt from an empty page through the browser alone: by the mouse and the
keyboard, in forms and in the drawing; no text is pasted.

Registers with fields are drawn with the mouse if they are at an even place in the specification,
and made with the keyboard if they are at an odd place.
"""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser_page import LONG
from designer_page import created
from playwright.sync_api import Locator, Page, expect

from understudy_devices.cards import specification
from understudy_devices.cards.document import Document

pytestmark = pytest.mark.slow

NAME = "zach1"


def enter(part: Locator, values: dict[str, Any]) -> None:
    """Type values into a form's fields, by their labels."""
    for key, value in values.items():
        field = part.get_by_label(key.replace("_", " "), exact=True).first
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(str(value))
        else:
            field.fill(str(value))
            field.press("Tab")


def plain(part: dict[str, Any], *without: str) -> dict[str, Any]:
    """Return what a part's own form has."""
    return {
        key: value
        for key, value in part.items()
        if not isinstance(value, dict | list) and key not in without
    }


def bits_of(field: dict[str, Any]) -> tuple[int, int]:
    high, _, low = str(field["bits"]).partition(":")
    return int(high), int(low or high)


def draw(page: Page, register: dict[str, Any], field: dict[str, Any]) -> None:
    """Drag over a field's bits."""
    high, low = bits_of(field)
    bar = page.get_by_role("group", name=f"bits of {register['name']}", exact=True)
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    assert box
    y, step = box["y"] + box["height"] - 10, box["width"] / register["width"]
    places = [box["x"] + step * (register["width"] - 0.5 - bit) for bit in (high, low)]
    page.mouse.move(places[0], y)
    page.mouse.down()
    page.mouse.move(places[1], y)
    page.mouse.up()


def press(page: Page, _register: dict[str, Any], field: dict[str, Any]) -> None:
    """Make a field with the keyboard: Enter on its lowest bit, then Shift and arrows; end in its
    form."""
    high, low = bits_of(field)
    page.get_by_role("button", name=f"free bit {low}", exact=True).press("Enter")
    expect(page.get_by_role("button", name=f"bits {low} to {low}")).to_be_focused(timeout=LONG)
    for _ in range(high - low):
        page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Enter")


def add(part: Locator, key: str, entries: list[dict[str, Any]]) -> None:
    """Add entries to a list of a form."""
    heading = part.page.get_by_role("heading", name=key, exact=True)
    own = part.locator("section").filter(has=heading)
    for index, entry in enumerate(entries):
        own.get_by_role("button", name=re.compile(f"Add an? {key.removesuffix('s')}$")).click()
        enter(own.locator("details").nth(index), entry)


def group(page: Page, name: str) -> Locator:
    return page.get_by_role("group", name=name, exact=True)


def add_register(page: Page, register: dict[str, Any], by: Callable[..., None]) -> None:
    page.get_by_role("button", name="Add a register", exact=True).press("Enter")
    expect(group(page, "register REGISTER1").get_by_label("name")).to_be_focused(timeout=LONG)
    page.keyboard.type(register["name"])
    page.keyboard.press("Tab")
    enter(group(page, f"register {register['name']}"), plain(register, "name"))
    for field in register.get("fields", []):
        by(page, register, field)
        form = group(page, "field FIELD1")
        form.get_by_label("name", exact=True).fill(field["name"])
        form.get_by_label("name", exact=True).press("Tab")
        form = group(page, f"field {field['name']}")
        enter(form, plain(field, "name", "bits"))
        add(form, "values", field.get("values", []))


def files(page: Page) -> dict[str, str]:
    """Return the files that the page shows, but for the specification."""
    shown = {}
    select = page.locator(".preview select")
    for name in select.locator("option").all_text_contents()[1:]:
        select.select_option(name)
        frame = page.locator(".preview iframe")
        if name.endswith(".html"):
            shown[name] = frame.get_attribute("srcdoc") or ""
        else:
            shown[name] = page.locator(".preview pre").text_content() or ""
    return shown


def generated(card: Path | str, out: Path) -> dict[str, bytes]:
    subprocess.run(["understudy", "card", "generate", card, "--out", out], check=True)
    return {file.name: file.read_bytes() for file in sorted(out.iterdir())}


def test_zach1_from_an_empty_page(designer: Page, tmp_path: Path) -> None:
    page = designer
    card = Document(NAME, specification.catalogue()[NAME].read_bytes()).data
    created(page, NAME)
    whole = group(page, "the card")
    enter(whole, plain(card, "name"))
    enter(whole, card["config"])
    group(page, "capabilities").get_by_role("button", name="Add").press("Enter")
    group(page, "msi").get_by_label("has one").check()
    enter(group(page, "msi"), card["capabilities"]["msi"])
    add(whole, "bars", card["bars"])
    for place, register in enumerate(card["registers"]):
        add_register(page, register, press if place % 2 else draw)
    for key in ("interrupts", "buffers"):
        add(whole, key, card[key])
    expect(page.get_by_role("status")).to_have_text("no mistakes, not saved", timeout=LONG)
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status")).to_have_text("no mistakes", timeout=LONG)
    saved = tmp_path / "cards" / f"{NAME}.yaml"
    assert Document(NAME, saved.read_bytes()).data == card
    ours, theirs = generated(saved, tmp_path / "ours"), generated(NAME, tmp_path / "theirs")
    assert ours == theirs
    texts = {name: text.encode() for name, text in files(page).items()}
    assert texts == {name: content for name, content in theirs.items() if not name.endswith(".pdf")}
