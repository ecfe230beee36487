# SPDX-License-Identifier: MIT
"""The studio starts a card's demo in a VM, and its page shows the journal, as the log has it."""

from pathlib import Path

import pytest
from browser_page import LONG
from guests import group
from playwright.sync_api import Page, expect

pytestmark = [group("referee"), pytest.mark.slow]

VM_MS = 600_000


def test_a_demo_is_started_and_shown(designer: Page, tmp_path: Path) -> None:
    page = designer
    page.get_by_role("link", name="a card at work").click()
    page.get_by_label("of the card").fill("copier")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("The referee finds nothing wrong")).to_be_visible(timeout=VM_MS)
    log = (tmp_path / "0001-card" / "register-log.txt").read_text().splitlines()
    expect(page.get_by_role("status")).to_have_text(f"{len(log)} accesses", timeout=LONG)
    rows = page.get_by_role("list", name="accesses").get_by_role("button").all_text_contents()
    assert len(rows) == len(log) > 20
    for row, line in zip(rows, log, strict=True):
        access = line.split(maxsplit=7)[7]
        assert " ".join(row.split()).endswith(" ".join(access.split()))
    page.get_by_role("button", name="store START").click()
    start = page.locator("[data-register=START]")
    expect(start).to_have_attribute("aria-current", "true", timeout=LONG)
