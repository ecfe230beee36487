# SPDX-License-Identifier: MIT
"""The server of a VM's display: who may look, and what it relays.  Here, QEMU is a socket."""

import fcntl
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from lab_class import Class
from lab_images import image
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.lab import holder, screen, viewers
from understudy_devices.lab.hardware import DISPLAY
from understudy_devices.lab.holder import Holder
from understudy_devices.lab.monitor import connect
from understudy_devices.lab.store import Team
from understudy_devices.studio import display

PORT, OTHER_PORT = 4321, 4322
HOST = f"http://127.0.0.1:{PORT}"
PATH, OTHER_PATH = "/secret-one/", "/secret-two/"
SCREEN = f"ws://127.0.0.1:{PORT}{PATH}api/screen"
OWN = {"Origin": HOST}
COOKIE = {"Cookie": f"understudy-{PORT}=right"}
BOOTABLE = bytes(510).replace(b"\0", b"\xf4", 1) + b"\x55\xaa"
LONG = b"screen" * 50_000
PATIENCE_SECONDS = 120


class Qemu:
    """Listens at a team's display: greets, answers each message with the same in capitals, and ends
    after "end"."""

    def __init__(self, team: Team) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        folder = os.open(team.folder, os.O_RDONLY)
        self._listener.bind(f"/proc/self/fd/{folder}/{DISPLAY}")
        os.close(folder)
        self._listener.listen()
        self._listener.settimeout(PATIENCE_SECONDS)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            with line, suppress(ConnectionError):  # the viewer has left
                line.sendall(b"RFB 003.008\n")
                while (data := line.recv(65536)) and data != b"end":
                    line.sendall(LONG if data == b"long" else data.upper())


@pytest.fixture
def lab(tmp_path: Path) -> Class:
    made = Class(tmp_path)
    made.create(image(tmp_path / "base.qcow2", BOOTABLE))
    return made


@pytest.fixture
def running(lab: Class, monkeypatch: pytest.MonkeyPatch) -> Iterator[Team]:
    """Yield a team whose VM seems to run."""
    who = Holder(holder.me(), os.uname().nodename, 0.0, os.getpid(), False, {})
    monkeypatch.setattr(holder, "of", lambda _: who)
    qemu = Qemu(lab.team())
    yield lab.team()
    qemu.close()


@pytest.fixture
def page(tmp_path: Path) -> Path:
    folder = tmp_path / "page"
    (folder / "assets").mkdir(parents=True)
    (folder / "display.html").write_text('<script src="./assets/display-x.js"></script>')
    (folder / "assets" / "display-x.js").write_text("run()")
    (folder / "assets" / "other.js").write_text("run()")
    return folder


@pytest.fixture
def client(running: Team, page: Path) -> TestClient:
    return client_of(running, page)


def client_of(team: Team, page: Path, path: str = PATH, token: str = "right") -> TestClient:
    app = display.application(team, page, path, token, PORT)
    return TestClient(app, base_url=HOST, follow_redirects=False)


# Who may look.


def test_the_link_gives_a_cookie_for_its_path_alone(client: TestClient) -> None:
    """A browser sends cookies of 127.0.0.1 to every port there, so the path has to keep them."""
    entered = client.get(f"{PATH}display.html?token=right")
    assert (entered.status_code, entered.headers["location"]) == (303, f"{PATH}display.html")
    cookie = entered.headers["set-cookie"]
    assert f"Path={PATH};" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    about = client.get(f"{PATH}api/display")
    assert about.json() == {
        "lab": "os822", "team": "team01", "user": holder.me(), "viewers": [], "obstacle": "",
    }  # fmt: skip


def test_the_page_is_there_and_nothing_else(client: TestClient) -> None:
    assert client.get(f"{PATH}display.html").text.startswith("<script")
    script = client.get(f"{PATH}assets/display-x.js")
    assert (script.text, script.headers["content-type"]) == (
        "run()",
        "text/javascript; charset=utf-8",
    )
    for path in (
        f"{PATH}assets/other.js",
        f"{PATH}../page/display.html",
        PATH,
        "/",
        "/display.html",
    ):
        assert client.get(path).status_code == 404, path


def test_a_page_that_was_not_built(lab: Class, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"display\.html: not built: run `make studio`"):
        client_of(lab.team(), tmp_path)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        (OWN, 401),
        (COOKIE, 403),
        (COOKIE | {"Origin": "null"}, 403),
        (COOKIE | {"Origin": "http://evil.example"}, 403),
        (COOKIE | {"Origin": f"http://127.0.0.1:{OTHER_PORT}"}, 403),
        (OWN | {"Cookie": f"understudy-{PORT}=wrong"}, 401),
        (OWN | {"Cookie": f"understudy-{OTHER_PORT}=right"}, 401),
        (COOKIE | OWN | {"Host": "evil.example"}, 421),
        (COOKIE | OWN | {"Host": f"127.0.0.1:{OTHER_PORT}"}, 421),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Bearer right", "Origin": "http://evil.example"}, 403),
    ],
)
def test_a_stranger_sees_nothing(
    client: TestClient, running: Team, headers: dict[str, str], status: int
) -> None:
    assert refusal(client, SCREEN, headers) == status
    assert not (running.folder / viewers.LOG).exists()


def test_the_key_of_another_team_opens_nothing(running: Team, lab: Class, page: Path) -> None:
    """Neither its path, nor its cookie at the right path."""
    client = client_of(running, page)
    client_of(lab.team("team02"), page, OTHER_PATH, "other")
    other = {"Cookie": f"understudy-{PORT}=other"} | OWN
    assert refusal(client, SCREEN, other) == 401
    assert refusal(client, SCREEN.replace(PATH, OTHER_PATH), other) == 404
    assert client.get(f"{OTHER_PATH}display.html?token=other").status_code == 404
    assert client.get(f"{PATH}display.html?token=other").status_code == 401


def refusal(client: TestClient, address: str, headers: dict[str, str]) -> int:
    """Return the status with which a WebSocket is refused."""
    with (
        pytest.raises(WebSocketDenialResponse) as caught,
        client.websocket_connect(address, headers=headers),
    ):
        pass
    return caught.value.status_code


# What is relayed.


def test_bytes_go_both_ways_until_the_vm_ends(client: TestClient, running: Team) -> None:
    with client.websocket_connect(SCREEN, headers=COOKIE | OWN) as browser:
        assert browser.receive_bytes() == b"RFB 003.008\n"
        browser.send_bytes(b"key")
        assert browser.receive_bytes() == b"KEY"
        (viewer,) = viewers.now(running)
        assert (viewer.user, viewer.of_team) == (holder.me(), True)
        browser.send_bytes(b"long")
        received = b""
        while len(received) < len(LONG):
            received += browser.receive_bytes()
        assert received == LONG
        browser.send_bytes(b"end")
        with pytest.raises(WebSocketDisconnect) as ended:
            browser.receive_bytes()
        assert (ended.value.code, ended.value.reason) == (1001, "the VM has ended")
    assert viewers.now(running) == []
    lines = (running.folder / viewers.LOG).read_text().splitlines()
    assert [line.rpartition(f" {holder.me()} ")[2] for line in lines] == ["joined", "left"]


def test_text_ends_the_relay(client: TestClient, running: Team) -> None:
    with client.websocket_connect(SCREEN, headers=COOKIE | OWN) as browser:
        browser.receive_bytes()
        browser.send_text("key")
        with pytest.raises(WebSocketDisconnect) as ended:
            browser.receive_bytes()
        assert ended.value.code == 1003
    assert viewers.now(running) == []


def test_several_look_and_each_who_leaves_is_gone(client: TestClient, running: Team) -> None:
    """QEMU's first viewer stays connected, so the second one waits in its queue."""
    headers = COOKIE | OWN
    with client.websocket_connect(SCREEN, headers=headers) as first:
        first.receive_bytes()
        with client.websocket_connect(SCREEN, headers=headers):
            assert len(viewers.now(running)) == 2
        assert len(viewers.now(running)) == 1
    assert viewers.now(running) == []


def test_nobody_looks_who_cannot_be_logged(client: TestClient, running: Team) -> None:
    (running.folder / viewers.LOG).mkdir()
    assert refusal(client, SCREEN, COOKIE | OWN) == 507
    assert viewers.now(running) == []


def test_a_vm_that_cannot_be_seen(lab: Class, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = client_of(lab.team(), page)
    client.get(f"{PATH}display.html?token=right")
    assert (
        "team01 is off; understudy lab start os822 team01"
        in client.get(f"{PATH}api/display").json()["obstacle"]
    )
    assert refusal(client, SCREEN, COOKIE | OWN) == 409
    who = Holder("ada", "elsewhere", 0.0, 1, False, {}, job="12")
    monkeypatch.setattr(holder, "of", lambda _: who)
    words = screen.obstacle(lab.team())
    assert "runs elsewhere: ada" in words
    assert words.endswith("srun --jobid=12 --overlap understudy lab display os822 team01")
    here = Holder("ada", os.uname().nodename, 0.0, 1, False, {})
    monkeypatch.setattr(holder, "of", lambda _: here)
    assert "team01 runs without a display" in screen.obstacle(lab.team())


# The list of viewers, in a folder that the team may write to.


def test_a_viewer_that_was_killed_is_forgotten(running: Team) -> None:
    child = os.fork()
    if not child:
        with viewers.joined(running):
            os._exit(0)
    os.waitpid(child, 0)
    (file,) = running.folder.glob("viewer-*")
    assert viewers.now(running) == []
    assert not file.exists()


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", "[" * 4000, '{"user": 1, "since": 1, "of_team": 1}',
                '{"user": "x", "since": 1e400, "of_team": true}', '{"user": "x", "since": "now"}'],
)  # fmt: skip
def test_what_the_team_writes_itself_is_left_out(running: Team, content: str) -> None:
    with (running.folder / "viewer-own.json").open("w+") as file:
        file.write(content)
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        os.mkfifo(running.folder / "viewer-pipe.json")
        (running.folder / "viewer-link.json").symlink_to("/etc/passwd")
        assert viewers.now(running) == []
        with viewers.joined(running):
            assert [each.user for each in viewers.now(running)] == [holder.me()]


def test_a_link_in_the_place_of_the_log_is_not_followed(running: Team, tmp_path: Path) -> None:
    (running.folder / viewers.LOG).symlink_to(tmp_path / "other")
    with pytest.raises(RunFailed, match="a link, and not a file"), viewers.joined(running):
        pass
    assert not (tmp_path / "other").exists()


def test_a_socket_that_nobody_serves(running: Team) -> None:
    (running.folder / DISPLAY).unlink()
    with socket.socket(socket.AF_UNIX) as dead:
        folder = os.open(running.folder, os.O_RDONLY)
        dead.bind(f"/proc/self/fd/{folder}/{DISPLAY}")
        os.close(folder)
    with pytest.raises(RunFailed, match="its QEMU does not answer: Connection refused; try again"):
        screen.connected(running)
    with socket.socket(socket.AF_UNIX) as line, pytest.raises(ConnectionRefusedError):
        connect(line, running.folder, DISPLAY)
