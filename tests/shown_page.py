# SPDX-License-Identifier: MIT
"""What the page with the simulator shows."""

from browser_page import LONG
from playwright.sync_api import Page, expect


def simulated(page: Page) -> dict[str, list[str]]:
    """Wait until nothing runs; return the table's cells by scheduler."""
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0, timeout=LONG)
    rows = page.locator("tbody tr")
    expect(rows.last).to_be_visible(timeout=LONG)
    return {
        row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows.all()
    }
