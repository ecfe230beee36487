# SPDX-License-Identifier: MIT
"""The studio's requests for cards."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from understudy_devices.cards import specification
from understudy_devices.studio import server

TOKEN = "right"
PORT = 4321
ZACH = specification.catalogue()["zach1"].read_text()


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    """Return a client with the token."""
    page = tmp_path / "page"
    page.mkdir()
    app = server.application(tmp_path, page, "/secret/", TOKEN, PORT)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    return TestClient(app, base_url=f"http://127.0.0.1:{PORT}/secret/", headers=headers)


def saved(client: TestClient, text: str, base: str | None) -> dict[str, Any]:
    answer = client.post("/api/cards/mine", json={"text": text, "base": base, "message": "mine"})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_a_card_is_begun_edited_saved_and_restored(client: TestClient) -> None:
    listed = client.get("/api/cards").json()
    assert listed["cards"] == []
    assert listed["begin"]["zach1"] == ZACH
    first = saved(client, ZACH, None)
    document = first["document"]
    document["registers"][0]["reset"] = 7
    checked = client.post("/api/cards/mine/check", json={"text": ZACH, "document": document}).json()
    assert checked["mistakes"] == []
    assert "reset: 0x7" in checked["text"]
    assert "zach1_registers.h" in checked["files"]
    second = saved(client, checked["text"], first["revision"])
    assert client.get("/api/cards/mine").json() == second
    last, begun = client.get("/api/cards/mine/versions").json()["versions"]
    assert (last["message"], begun["message"]) == ("mine", "mine")
    version = client.get(f"/api/cards/mine/versions/{begun['commit']}").json()
    assert version["text"] == ZACH
    assert version["difference"] == [f"registers ID, reset: {0x5A434801}, now 7"]
    assert saved(client, version["text"], second["revision"])["revision"] == first["revision"]
    assert client.get("/api/cards").json()["cards"] == [{"name": "mine", "mistakes": 0}]


def test_two_browsers_on_one_card(client: TestClient) -> None:
    """The second to save is told, and shown the difference."""
    base = saved(client, ZACH, None)["revision"]
    theirs = saved(client, ZACH.replace("revision: 1", "revision: 2"), base)
    asked = {"text": ZACH.replace("revision: 1", "revision: 3"), "base": base}
    answer = client.post("/api/cards/mine", json=asked)
    assert answer.status_code == 409
    assert "has been changed since" in answer.json()["error"]
    assert answer.json()["theirs"] == theirs
    assert answer.json()["difference"] == ["config, revision: 2, now 3"]
    assert client.get("/api/cards/mine").json() == theirs
    saved(client, asked["text"], theirs["revision"])


def test_nonsense_is_kept_as_text_with_its_mistakes(client: TestClient) -> None:
    answer = saved(client, "a: [\n", None)
    assert (answer["document"], answer["files"]) == (None, None)
    assert answer["mistakes"][0]["line"] >= 1
    listed = client.get("/api/cards").json()["cards"]
    assert listed == [{"name": "mine", "mistakes": 1}]
    conflict = client.post("/api/cards/mine", json={"text": ZACH, "base": None})
    assert conflict.json()["difference"] is None


def test_a_spoiled_file_does_not_hide_the_others(client: TestClient, tmp_path: Path) -> None:
    saved(client, ZACH, None)
    (tmp_path / "cards" / "bad.yaml").write_bytes(b"\xff")
    bad, good = client.get("/api/cards").json()["cards"]
    assert "not UTF-8" in bad["error"]
    assert good["mistakes"] == 0
    assert client.get("/api/cards/bad").status_code == 409


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/cards/Upper", {"text": "", "base": None}, 400),
        ("/api/cards/mine", {"text": ""}, 400),
        ("/api/cards/mine", {"text": 1, "base": None}, 400),
        ("/api/cards/mine", {"text": "", "base": None, "path": "/etc"}, 400),
        ("/api/cards/mine", {"text": "", "base": "0" * 16}, 409),
        ("/api/cards/mine/check", {"document": {}}, 400),
        ("/api/cards/mine/check", {"text": "", "document": []}, 400),
    ],
)
def test_other_bodies_are_refused(
    client: TestClient, tmp_path: Path, path: str, body: dict[str, Any], status: int
) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == status
    assert "\n" not in answer.json()["error"]
    assert not list(tmp_path.glob("cards/*.yaml"))


@pytest.mark.parametrize("path", ["mine", "mine/versions/0000000", "mine/versions/HEAD"])
def test_what_is_not_there(client: TestClient, path: str) -> None:
    answer = client.get(f"/api/cards/{path}")
    assert (answer.status_code, "look at the list again" in answer.json()["error"]) == (404, True)
