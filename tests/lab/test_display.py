# SPDX-License-Identifier: MIT
"""The screen of a team's VM: in a browser, as a picture, and of VMs that were saved without one."""

import dataclasses
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from display_client import Client, display_of
from lab_class import NAME, Class, running_lab, understudy
from PIL import Image
from wsproto.events import BytesMessage, CloseConnection

from understudy_devices.lab import holder, start, viewers
from understudy_devices.lab.hardware import DISPLAY, Hardware
from understudy_devices.platforms.vm import qemu

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.thorough
LONG_MS = 120_000
PATIENCE_SECONDS = 120
TEXT = "Hello, World! ~ls /usr | [x] {y} \"Q\" 'q' 1+1=2 <a@b.c> #$%^&*() ?;: `-_\\"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Class]:
    with running_lab(tmp_path) as made:
        yield made


# In a browser.


def test_what_the_page_types_reaches_the_vm(
    lab: Class, page_folder: Path, browser: "Browser"
) -> None:
    """The guest prints what its keyboard sends; the page shows who looks, and connects again."""
    from playwright.sync_api import expect

    lab.start()
    lab.wait_for("counter 0000")
    with display_of(lab) as link:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        page.set_default_timeout(LONG_MS)
        page.goto(link)
        assert "token" not in page.url
        status = page.get_by_role("status", name="Connection")
        expect(status).to_have_text("connected", timeout=LONG_MS)
        looking = page.get_by_role("region", name="Who looks at this screen")
        expect(looking).to_contain_text(f"{holder.me()} since", timeout=LONG_MS)

        text = page.get_by_label("Text to type")
        text.fill("na\N{LATIN SMALL LETTER I WITH DIAERESIS}ve")
        page.get_by_role("button", name="Type this text").click()
        expect(page.get_by_role("alert")).to_contain_text("has no key for")
        text.fill(TEXT)
        page.get_by_role("button", name="Type this text").click()
        lab.wait_for(TEXT)

        page.get_by_role("button", name="Ctrl-W").click()
        lab.wait_for("\x17")  # and the page is still there
        page.locator("canvas").click()
        page.keyboard.type("direct")
        lab.wait_for("direct")
        page.get_by_label("only watch").check()
        expect(page.get_by_role("button", name="Ctrl-W")).to_be_disabled()
        with page.expect_download() as saved:
            page.get_by_role("button", name="Save a picture").click()
        with Image.open(saved.value.path()) as picture:
            assert len(picture.getcolors(maxcolors=2**16) or []) > 1  # letters on a ground

        assert f"{holder.me()} since" in lab.do("display", "team01", "--viewers")
        lab.do("stop", "team01", "--suspend")
        expect(status).to_contain_text("team01 is suspended", timeout=LONG_MS)
        assert lab.do("display", "team01", "--viewers") == ""
        lab.start()
        expect(status).to_have_text("connected", timeout=LONG_MS)
    context.close()  # after the command has ended: that is logged, too
    lines = (lab.team().folder / viewers.LOG).read_text().splitlines()
    assert [line.split()[-1] for line in lines] == ["joined", "left"] * 2


# Frames that no browser sends.


def test_bad_frames_end_one_viewer_and_not_the_server(lab: Class, page_folder: Path) -> None:
    lab.start()
    with display_of(lab) as link:
        good = Client(link)
        greeting = good.next()
        assert isinstance(greeting, BytesMessage)
        assert bytes(greeting.data) == b"RFB 003.008\n"
        for frame in (
            BytesMessage(b"x" * 70_000),
            b"\x82\x03key",  # not masked
            b"\xf2\x80\x00\x00\x00\x00",  # reserved bits
            b"\x82\xff" + b"\xff" * 8 + bytes(4),  # 2**64 - 1 bytes
        ):
            client = Client(link)
            assert isinstance(client.next(), BytesMessage)
            if isinstance(frame, bytes):
                client.send_raw(frame)
            else:
                client.send(frame)
            end = client.next()
            assert end is None or isinstance(end, CloseConnection), frame
            client.close()
            lab.until(lambda: len(viewers.now(lab.team())) == 1)
        good.send(BytesMessage(b"RFB 003.008\n"))
        assert isinstance(good.next(), BytesMessage)
        good.close()
        lab.until(lambda: viewers.now(lab.team()) == [])


# A picture.


def test_a_screenshot(lab: Class, tmp_path: Path) -> None:
    out = tmp_path / "screen.png"
    assert "team01 is off; understudy lab start" in lab.refuses("screenshot", "team01")
    assert "name a .png file" in lab.refuses("screenshot", "team01", "--out", "screen.jpg")
    assert "no folder" in lab.refuses(
        "screenshot", "team01", "--out", str(tmp_path / "x" / "y.png")
    )
    lab.start()
    lab.wait_for("counter 0000")
    assert "wrote" in lab.do("screenshot", "team01", "--out", str(out))
    with Image.open(out) as picture:
        assert picture.format == "PNG"
        assert picture.size == (720, 400)  # text mode
        assert len(picture.getcolors(maxcolors=2**16) or []) > 1
    line = (lab.team().folder / viewers.LOG).read_text()
    assert line.endswith(f" {holder.me()} took a picture\n")


def test_nobody_else_may_use_the_sockets(lab: Class) -> None:
    old = os.umask(0)
    try:
        lab.start()
    finally:
        os.umask(old)
    sockets = [path for path in lab.team().folder.iterdir() if path.is_socket()]
    assert DISPLAY in [path.name for path in sockets]
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in sockets} == {0}


# VMs of an earlier version, which have no display.


def test_a_vm_that_was_saved_without_a_display_is_resumed(lab: Class) -> None:
    team = lab.team()
    earlier = Hardware(team.lab.settings, "tcg", display=False)
    start.start(team, earlier)
    lab.wait_for("counter 0000")
    lab.type("p", ["memory 0001"])
    assert "team01 runs without a display" in lab.refuses("display", "team01")
    assert "team01 runs without a display" in lab.refuses("screenshot", "team01")
    lab.do("stop", "team01", "--suspend")
    words = lab.start()
    assert "team01: resumed" in words
    assert "not resumed" not in words
    lab.type("p", ["memory 0002"])
    lab.do("stop", "team01", "--suspend")  # once more, by this version
    assert "team01: resumed" in lab.start()
    lab.type("p", ["memory 0003"])
    lab.do("stop", "team01", "--now")
    assert "team01: booted" in lab.start()
    assert (team.folder / DISPLAY).is_socket()


def test_the_identity_of_earlier_versions_is_found(lab: Class) -> None:
    now = Hardware(lab.team().lab.settings, "tcg")
    without = dataclasses.replace(now, display=False)
    assert now.fitting(without.identity()) == without
    for other in (now.identity(), without.identity() | {"qemu": "1.0"}, {}, None):
        assert now.fitting(other) == now


# A QEMU that lacks what a display needs.


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (
            'exec {qemu} "$@" -global VGA.romfile=nothing.bin',
            'failed to find romfile "nothing.bin": apt-get install seabios',
        ),
        (
            'echo "qemu: -vnc unix:x: VNC support is disabled" >&2; exit 1',
            "VNC support is disabled: the lab needs a QEMU with VNC",
        ),
    ],
)
def test_what_qemu_lacks_is_said(
    lab: Class, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    """A suspended VM stays suspended."""
    lab.start()
    lab.do("stop", "team01", "--suspend")
    real = qemu.binary()
    poor = tmp_path / "bin" / qemu.BINARY
    poor.parent.mkdir()
    version = f'[ "$1" = --version ] && exec {real} --version'
    poor.write_text(f"#!/bin/sh\n{version}\n{script.format(qemu=real)}\n")
    poor.chmod(0o755)
    os.utime(poor, ns=(0, 0))
    monkeypatch.setenv("PATH", f"{poor.parent}:{os.environ['PATH']}")
    line = lab.start("team02", code=1)
    assert words in line
    assert line.count("\n") == 1
    monkeypatch.undo()
    assert "team01: resumed" in lab.start()


def test_ports_and_teams_that_do_not_exist(lab: Class, page_folder: Path) -> None:
    assert 'team "team09"' in lab.refuses("display", "team09")
    assert "team01 is off; understudy lab start os822 team01" in lab.refuses("display", "team01")
    lab.start()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert f"--port {port}: Address already in use" in lab.refuses(
            "display", "team01", "--port", port
        )
    done = understudy("lab", "display", NAME, "team01", "--port", "70000", "--folder", lab.labs)
    assert done.exit_code == 2
