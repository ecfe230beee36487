# SPDX-License-Identifier: MIT
"""Links to the page: what they carry, hostile and broken ones, and what the page may load."""

import base64
import zlib
from urllib.parse import quote

from browser_page import LONG
from playwright.sync_api import Browser, Page, expect
from shown_page import simulated

from understudy_devices.studio.catalogue import template

TEMPLATE = template()
SCRIPT = "<img src=x onerror=document.title='run'>"


def packed(text: bytes) -> str:
    """Return a text as a link has it."""
    packer = zlib.compressobj(wbits=-15)
    return base64.urlsafe_b64encode(packer.compress(text) + packer.flush()).decode().rstrip("=")


BROKEN = {
    "#workload=random": "it has no version",
    "#v=2": 'it is of version "2", and this page reads version 1',
    "#v=1&v=1": 'it has "v" twice',
    "#v=1&workload=none": 'the page has no workload "none"',
    f"#v=1&disk={quote(SCRIPT)}": f'the page has no disk "{SCRIPT}"',
    "#v=1&schedulers=cats,../x": 'the page has no scheduler "../x"',
    "#v=1&schedulers=./mine.c": 'the page has no scheduler "./mine.c"',
    "#v=1&requests=0": "--requests: 0 is outside 1 to 100000000",
    "#v=1&requests=many": '--requests: "many" is no number',
    "#v=1&requests=": '--requests: "" is no number',
    "#v=1&seed=1e400": '--seed: "1e400" is no number',
    "#v=1&processes=1.5": "--processes: 1.5 is not a whole number",
    "#v=1&workload=surge-buffered&prefetch=x": "--prefetch: choose from amp, doubling, fixed, none",
    "#v=1&workload=surge-buffered&prefetch=0": "--prefetch: choose from amp, doubling, fixed, none",
    "#v=1&__proto__=1": 'the page has no option "__proto__" for surge-direct',
    "#v=1&source=%00": "its text can't be decompressed: the link was cut off or changed",
    f"#v=1&source={packed(b'int x;' * 99)[:-5]}": "its text can't be decompressed",
    f"#v=1&source={packed(bytes([0xFF, 0xFE]))}": "its text can't be decompressed",
    f"#v=1&source={packed(bytes(2**24))}": "its text has more than 262,144 bytes",
    f"#v=1&source={'A' * 100_000}": "it has 100,012 characters, and a link has at most 100,000",
}


def test_a_link_has_everything(page: Page) -> None:
    """Workload, disk, schedulers, options and text; the text is compiled when the user asks."""
    page.get_by_label("workload").select_option("random")
    page.get_by_label("disk", exact=True).select_option("hp-c3323a")
    page.get_by_label("requests").fill("300")
    page.get_by_label("seed").fill("7")
    for name in ("cats", "sstf"):
        page.get_by_role("checkbox", name=name).uncheck()
    page.get_by_role("button", name="Write a scheduler").click()
    text = page.get_by_role("textbox", name="mine.c")
    expect(text).to_contain_text("mine_add", timeout=LONG)
    text.click()
    page.keyboard.type("/* \N{LATIN SMALL LETTER E WITH ACUTE} */")
    page.get_by_role("button", name="Send as link").click()
    expect(page.get_by_role("status", name="Link")).to_contain_text("the page's address now")
    command = page.locator(".command code").inner_text()
    assert command.endswith(
        "--disk hp-c3323a --schedulers clook,fcfs,./mine.c --seed 7 --requests 300"
    )
    page.reload()
    expect(page.locator(".command code")).to_have_text(command, timeout=LONG)
    assert list(simulated(page)) == ["clook", "fcfs"]
    expect(page.get_by_text("This text came with a link")).to_be_visible()
    expect(page.get_by_role("status", name="Compiler")).to_have_text("Not compiled yet.")
    expect(text).to_contain_text("/* \N{LATIN SMALL LETTER E WITH ACUTE} */", timeout=LONG)
    page.get_by_role("button", name="Compile and run").click()
    expect(page.locator("tbody th").last).to_have_text("mine", timeout=LONG)
    cells = simulated(page)
    assert cells["mine"] == cells["fcfs"]


def test_a_link_may_be_written_by_hand(page: Page, address: str) -> None:
    """The rest has its default; a second link in the same tab is opened."""
    page.goto(f"{address}#v=1&schedulers=sptf")
    expect(page.locator(".command code")).to_have_text("understudy predict --schedulers sptf")
    assert list(simulated(page)) == ["sptf"]
    page.goto(f"{address}#v=1&schedulers=look,scan&workload=random&writes=5")
    expect(page.locator(".command code")).to_have_text(
        "understudy predict --workload random --schedulers look,scan --writes 5"
    )
    page.goto(f"{address}#v=1&schedulers=look&workload=surge-buffered&prefetch=amp&replacement=lru")
    expect(page.get_by_label("prefetch")).to_have_value("0")
    expect(page.locator(".command code")).to_have_text(
        "understudy predict --workload surge-buffered --schedulers look --prefetch amp"
    )


def test_a_broken_link_runs_nothing(page: Page, address: str) -> None:
    """One message each, with names as text; the page without the link works."""
    for fragment, words in BROKEN.items():
        page.goto(address + fragment)
        expect(page.get_by_role("alert")).to_contain_text(f"This link is broken: {words}")
        expect(page.locator("table")).to_have_count(0)
        expect(page.locator("img")).to_have_count(0)
    page.get_by_role("link", name="The page without the link").click()
    assert len(simulated(page)) == 4
    assert page.title().startswith("Understudy")


def test_text_too_long_for_a_link(page: Page) -> None:
    """The user is told to send the file."""
    page.get_by_role("button", name="Write a scheduler").click()
    text = page.get_by_role("textbox", name="mine.c")
    expect(text).to_contain_text("mine_add", timeout=LONG)
    text.click()
    noise = base64.b85encode(zlib.compress(str([n**7 for n in range(30_000)]).encode(), 9)).decode()
    page.keyboard.insert_text(f"/* {noise[:150_000]} */")
    page.get_by_role("button", name="Send as link").click()
    expect(page.get_by_role("status", name="Link")).to_have_text(
        "The text is too long for a link: download it, and send the file."
    )
    assert "#" not in page.url


def test_the_policy_refuses_other_hosts_and_code(browser: Browser, address: str) -> None:
    """The browser enforces the page's content security policy."""
    page = browser.new_page()
    page.goto(address)
    simulated(page)
    violations = page.evaluate("""async () => {
      const refused = [];
      document.addEventListener("securitypolicyviolation", (event) =>
        refused.push(event.effectiveDirective));
      await fetch("https://example.org/").catch(() => {});
      for (const [name, attributes] of [
        ["img", { src: "https://example.org/x.png" }],
        ["script", { src: "https://example.org/x.js" }],
        ["script", { textContent: "document.title = 'run'" }],
        ["iframe", { src: "https://example.org/" }],
        ["object", { data: "https://example.org/" }],
        ["button", { onclick: null }],
      ]) document.body.append(Object.assign(document.createElement(name), attributes));
      document.body.lastChild.setAttribute("onclick", "document.title = 'run'");
      document.body.lastChild.click();
      await new Promise((resolve) => setTimeout(resolve, 500));
      return refused.toSorted();
    }""")
    assert violations == [
        "connect-src",
        "frame-src",
        "img-src",
        "object-src",
        "script-src-attr",
        "script-src-elem",
        "script-src-elem",
    ]
    assert page.title().startswith("Understudy")
    page.close()
