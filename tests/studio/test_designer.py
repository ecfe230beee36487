# SPDX-License-Identifier: MIT
"""The card designer, in a real browser: by the mouse, and by the keyboard alone."""

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser_page import LONG
from designer_page import created
from gaps_card import GAPS
from playwright.sync_api import Browser, Locator, Page, expect

from understudy_devices.cards import specification
from understudy_devices.cards.header import header
from understudy_devices.cards.output_files import marked

pytestmark = pytest.mark.thorough


def fill(part: Locator, **values: str) -> None:
    """Fill in fields of a form by their labels."""
    for label, value in values.items():
        field = part.get_by_label(label.replace("_", " "), exact=True).first
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
            field.press("Tab")


def test_a_card_is_drawn_with_the_mouse(designer: Page, tmp_path: Path) -> None:
    """From an empty page to a card without mistakes, whose files are the command's."""
    page = designer
    created(page, "mine")
    edit = page.locator(".edit")
    fill(edit, title="A card", description="It counts.", vendor="0x1d55", device="0x2a07",
         class_code="0x058000")  # fmt: skip
    page.get_by_role("button", name="Add a bar").click()
    bar = edit.locator("details").first
    fill(bar, name="CONTROL", description="All registers.")
    page.get_by_role("button", name="Add a register").click()
    page.get_by_role("button", name="Add a register").click()
    # Until then, and on a busy host for a moment longer, messages move what is below them.
    expect(page.get_by_role("status")).to_have_text("no mistakes, not saved", timeout=LONG)
    bits = page.get_by_role("group", name="bits of REGISTER2")
    box = None
    while box is None or box != bits.bounding_box():
        box = bits.bounding_box()
        page.wait_for_timeout(500)
    y, step = box["y"] + box["height"] - 10, box["width"] / 32
    page.mouse.move(box["x"] + step * 24.5, y)
    page.mouse.down()
    page.mouse.move(box["x"] + step * 31.5, y, steps=4)
    page.mouse.up()
    field = page.get_by_role("button", name="FIELD1, bits 7 to 0")
    expect(field).to_be_visible()
    own = field.bounding_box()
    assert own
    page.mouse.move(own["x"] + own["width"] / 2, y)
    page.mouse.down()
    page.mouse.move(own["x"] + own["width"] / 2 - step * 8, y, steps=4)
    page.mouse.up()
    expect(page.get_by_role("button", name="FIELD1, bits 15 to 8")).to_be_visible()
    own = page.get_by_role("button", name="FIELD1, bits 15 to 8").bounding_box()
    assert own
    page.mouse.move(own["x"] + 1, y)
    page.mouse.down()
    page.mouse.move(own["x"] + 1 - step * 4, y, steps=4)
    page.mouse.up()
    expect(page.get_by_role("button", name=re.compile("FIELD1, bits 19 to 8"))).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("no mistakes, not saved", timeout=LONG)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("no mistakes", timeout=LONG)
    card = specification.load(str(tmp_path / "cards" / "mine.yaml"))
    offsets = {one.name: one.offset for one in card.registers}
    assert offsets == {"REGISTER1": 0, "REGISTER2": 4}
    assert str(card.registers[1].fields[0].bits) == "19:8"
    page.locator(".preview select").select_option("mine_registers.h")
    expect(page.locator(".preview pre")).to_have_text(
        marked("mine", ".h", header(card).encode()).decode()
    )


def test_arrays_and_pairs_of_registers(designer: Page, tmp_path: Path) -> None:
    """A card with all that is unusual is shown without overlaps, and its array can be changed."""
    (tmp_path / "cards").mkdir(exist_ok=True)
    (tmp_path / "cards" / "gaps.yaml").write_text(GAPS)
    page = designer
    page.goto(page.url.partition("#")[0])
    page.get_by_role("button", name="gaps").or_(page.get_by_role("link", name="gaps")).first.click()
    expect(page.get_by_role("button", name=re.compile("SLOT.*4 \u00d7 32 bits"))).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("TRANSMIT"))).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("overlaps"))).to_have_count(0)
    page.get_by_role("button", name="WIDE").focus()
    for key, place in (("ArrowDown", "0:0x008"), ("ArrowUp", "0:0x004")):
        page.keyboard.press(f"Alt+{key}")
        expect(page.get_by_role("button", name="WIDE")).to_contain_text(place)
    page.get_by_role("button", name=re.compile("SLOT.*4 \u00d7 32 bits")).focus()
    page.keyboard.press("Enter")
    page.get_by_label("count", exact=True).fill("6")
    page.get_by_label("count", exact=True).press("Tab")
    page.locator(".preview select").select_option("gaps_registers.h")
    expect(page.locator(".preview pre")).to_contain_text("#define GAPS_SLOT_5 0x150u", timeout=LONG)


@pytest.mark.parametrize("access", ["rc", "rs"])
def test_a_pair_whose_read_changes_it(designer: Page, tmp_path: Path, access: str) -> None:
    (tmp_path / "cards").mkdir(exist_ok=True)
    text = GAPS.replace("kind: port, access: ro", f"kind: port, access: {access}")
    (tmp_path / "cards" / "gaps.yaml").write_text(text)
    page = designer
    page.goto(page.url.partition("#")[0])
    page.get_by_role("button", name="gaps").or_(page.get_by_role("link", name="gaps")).first.click()
    expect(page.get_by_role("button", name=re.compile("TRANSMIT"))).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("overlaps"))).to_have_count(0)


def test_registers_without_an_access_overlap(designer: Page, tmp_path: Path) -> None:
    """They are no pair of a register that is read and one that is written."""
    more = (f"  - {{name: {one}, bar: 2, offset: 0x300, width: 32}}\n" for one in ("ONE", "TWO"))
    (tmp_path / "cards").mkdir(exist_ok=True)
    text = GAPS.replace("interrupts:", "".join(more) + "interrupts:")
    (tmp_path / "cards" / "bare.yaml").write_text(text)
    page = designer
    page.goto(page.url.partition("#")[0])
    page.get_by_role("button", name="bare").or_(page.get_by_role("link", name="bare")).first.click()
    expect(page.get_by_role("button", name=re.compile("TWO.*overlaps"))).to_be_visible()


def test_registers_and_fields_by_the_keyboard_alone(designer: Page, tmp_path: Path) -> None:
    """Move, resize, swap and remove fields and registers; undo, redo and save."""
    page = designer
    created(page, "keys", "zach1")
    expect(page.locator(".preview pre")).to_contain_text("name: keys", timeout=LONG)
    page.get_by_role("button", name="MODE_SIZE").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="WIDTH, bits 11 to 0").focus()
    page.keyboard.press("Shift+ArrowRight")
    expect(page.get_by_role("button", name="WIDTH, bits 10 to 0")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("button", name="WIDTH, bits 11 to 1")).to_be_focused()
    page.keyboard.press("Alt+ArrowLeft")
    expect(page.get_by_role("button", name="HEIGHT, bits 12 to 1")).to_be_visible()
    expect(page.get_by_role("button", name="WIDTH, bits 27 to 17")).to_be_visible()
    page.get_by_role("button", name="free bit 30").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="FIELD1, bits 30 to 30").focus()
    page.keyboard.press("Delete")
    expect(page.get_by_role("button", name="FIELD1")).to_have_count(0)
    page.get_by_role("button", name="STRIDE").focus()
    page.keyboard.press("Alt+ArrowDown")
    expect(page.get_by_role("button", name=re.compile("FLIP.*overlaps"))).to_be_visible()
    expect(page.get_by_label("mistakes")).to_contain_text("STRIDE", timeout=LONG)
    page.get_by_role("button", name="STRIDE").focus()
    page.keyboard.press("Alt+ArrowUp")
    page.keyboard.press("Control+z")
    expect(page.get_by_role("button", name=re.compile("overlaps"))).to_have_count(1)
    page.keyboard.press("Control+y")
    expect(page.get_by_role("status")).to_have_text("no mistakes, not saved", timeout=LONG)
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status")).to_have_text("no mistakes", timeout=LONG)
    card = specification.load(str(tmp_path / "cards" / "keys.yaml"))
    size = next(one for one in card.registers if one.name == "MODE_SIZE")
    assert {one.name: str(one.bits) for one in size.fields} == {"WIDTH": "27:17", "HEIGHT": "12:1"}
    assert "# display controller" in (tmp_path / "cards" / "keys.yaml").read_text()


def test_two_browsers_and_an_older_version(
    designer: Page, browser: Browser, designer_link: str
) -> None:
    page = designer
    created(page, "both", "copier")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("no mistakes", timeout=LONG)
    other = page.context.new_page()
    other.set_default_timeout(LONG)
    other.goto(page.url)
    other.get_by_role("button", name="both").click()
    for one, title in ((other, "Theirs"), (page, "Mine")):
        fill(one.locator(".edit"), title=title)
        one.get_by_role("button", name="Save", exact=True).click()
    told = page.get_by_role("alert")
    expect(told).to_contain_text("has been changed since", timeout=LONG)
    expect(told).to_contain_text("title: Theirs, now Mine")
    told.get_by_role("button", name="Save mine over it").click()
    expect(page.get_by_role("status")).to_have_text("no mistakes", timeout=LONG)
    versions = page.locator(".preview ol li")
    expect(versions).to_have_count(3, timeout=LONG)
    versions.nth(1).get_by_role("button").click()
    expect(versions.nth(1)).to_contain_text("title: Theirs, now Mine")
    page.get_by_role("button", name="Restore").click()
    expect(page.locator(".edit").get_by_label("title", exact=True)).to_have_value("Theirs")
    expect(page.get_by_role("status")).to_have_text("no mistakes, not saved")


def test_nonsense_is_edited_as_text(designer: Page, tmp_path: Path) -> None:
    (tmp_path / "cards").mkdir()
    (tmp_path / "cards" / "bad.yaml").write_text("name: [<script>alert(1)</script>\n")
    designer.reload()
    designer.get_by_role("button", name="bad, 1 mistake").click()
    text = designer.get_by_label("text")
    expect(text).to_have_value("name: [<script>alert(1)</script>\n", timeout=LONG)
    text.fill(specification.catalogue()["copier"].read_text())
    text.press("Tab")
    expect(designer.get_by_role("heading", name="Registers")).to_be_visible(timeout=LONG)


@pytest.mark.parametrize("width", [1400, 390])
def test_anyone_can_use_it(browser: Browser, designer_link: str, width: int) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if width < 400 else "light"
    )
    page = context.new_page()
    page.set_default_timeout(LONG)
    page.goto(designer_link)
    created(page, "mine", "zach1")
    page.get_by_role("button", name="STATUS").first.click()
    page.get_by_role("button", name="DMA_DONE, bits").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    context.close()
