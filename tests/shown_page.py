# SPDX-License-Identifier: MIT
"""What the page with the simulator shows."""

from browser_page import LONG
from playwright.sync_api import Page, expect


def simulated(page: Page) -> dict[str, list[str]]:
    """Wait until a run has begun and nothing runs; return the table's cells by scheduler."""
    rows = page.locator("tbody tr")
    expect(rows.last).to_be_visible(timeout=LONG)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0, timeout=LONG)
    return {
        row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows.all()
    }
