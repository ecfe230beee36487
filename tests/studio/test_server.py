# SPDX-License-Identifier: MIT
"""The studio's server: who may ask it, and what it says of runs and experiments."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from served_studio import studio_of
from starlette.testclient import TestClient

from understudy_devices.base.errors import UserError
from understudy_devices.studio import experiments, runs, server

TOKEN = "right"
PORT = 4321
PATH = "/secret/"
HOST = f"http://127.0.0.1:{PORT}"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
QUICK = ["predict", "--disk", "cheetah-15k4", "--schedulers", "fcfs", "--requests", "200"]
SLOW = ["sweep", "--disks", "all", "--workloads", "random", "--seeds", "1000"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the studio's folder."""
    (tmp_path / "results").mkdir()
    return tmp_path / "results"


@pytest.fixture
def client(folder: Path, tmp_path: Path) -> TestClient:
    """Return a client that sends no token."""
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text("<!doctype html><title>The studio</title>")
    app = server.application(folder, page, PATH, TOKEN, PORT)
    return TestClient(app, base_url=f"{HOST}{PATH}", follow_redirects=False)


# Who may ask.


def test_the_link_gives_the_token_to_the_browser(client: TestClient) -> None:
    """The address has no token any more."""
    assert client.get("/api/runs").status_code == 401
    entered = client.get("/?token=right&view=runs")
    assert (entered.status_code, entered.headers["location"]) == (303, f"{PATH}?view=runs")
    cookie = entered.headers["set-cookie"]
    assert f"Path={PATH};" in cookie  # a browser sends it to every port of 127.0.0.1
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert client.get("/").text.startswith("<!doctype html>")
    assert client.get("/api/runs").json() == {"runs": [], "more": 0}


@pytest.mark.parametrize("token", ["wrong", "", "righ", "right ", "r\u00e9", "x" * 5000])
def test_another_token_is_refused(client: TestClient, token: str) -> None:
    given = httpx.QueryParams({"token": token})
    if token:
        assert client.get(f"/?{given}").status_code == 401
    headers = {b"Authorization": f"Bearer {token}".encode()}
    assert client.get("/api/runs", headers=headers).status_code == 401
    assert client.get("/api/runs", headers={"Authorization": "Basic right"}).status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1"]
)
def test_another_host_is_refused(client: TestClient, host: str) -> None:
    for path in ("/", "/?token=right", "/api/runs"):
        assert client.get(path, headers=BEARER | {"Host": host}).status_code == 421


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Origin": HOST}, 401),
        (BEARER, 400),
        (BEARER | {"Origin": HOST}, 400),
        (BEARER | {"Origin": "null"}, 403),
        (BEARER | {"Origin": "http://evil.example"}, 403),
        (BEARER | {"Origin": f"https://127.0.0.1:{PORT}"}, 403),
        ({"Cookie": f"understudy-{PORT}=right"}, 403),
        ({"Cookie": f"understudy-{PORT}=right", "Origin": HOST}, 400),
        ({"Cookie": f"understudy-{PORT + 1}=right", "Origin": HOST}, 401),
    ],
)
def test_only_its_own_page_changes_something(
    client: TestClient, headers: dict[str, str], status: int
) -> None:
    """400: the request came through, and its body is wrong."""
    assert client.post("/api/experiments", headers=headers, content=b"{}").status_code == status


def test_nothing_is_outside_the_path(client: TestClient) -> None:
    """Not even for somebody who has the token."""
    for path in ("/", "/?token=right", "/api/runs", PATH.rstrip("/"), "/secret-other/api/runs"):
        assert client.get(f"{HOST}{path}", headers=BEARER).status_code == 404


def test_a_large_body_is_refused(client: TestClient) -> None:
    large = client.post("/api/experiments", headers=BEARER, content=b" " * (2**20 + 1))
    assert large.status_code == 413
    pieces = client.post("/api/experiments", headers=BEARER, content=iter([b"{", b"}"]))
    assert pieces.status_code == 413


def test_each_answer_says_what_a_page_may_do(client: TestClient) -> None:
    for path in ("/", "/api/runs", "/nothing"):
        policy = client.get(path, headers=BEARER).headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy


# Runs.


def run_folder(folder: Path, name: str, result: str, report: str | None = None) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "result.json").write_text(result)
    if report is not None:
        (folder / name / "report.html").write_text(report)


def test_runs_are_listed_with_what_is_wrong_with_them(client: TestClient, folder: Path) -> None:
    good = json.dumps(
        {"schema": "a/1", "inputs": {"command": "understudy predict"}, "trusted": False}
    )
    run_folder(folder, "good", good, "<script>alert(1)</script>")
    run_folder(folder, "deep/er", json.dumps({"command": "<b>understudy</b>"}))
    for name, text in {"half": good[:-3], "list": "[]", "nested": "[" * 100_000}.items():
        run_folder(folder, name, text)
    (folder / "empty").mkdir()
    listed = {one["name"]: one for one in client.get("/api/runs", headers=BEARER).json()["runs"]}
    assert set(listed) == {"good", "deep/er", "half", "list", "nested"}
    assert listed["good"] | {"changed_s": 0} == {
        "name": "good", "changed_s": 0, "has_report": True, "schema": "a/1",
        "command": "understudy predict", "trusted": False,
    }  # fmt: skip
    assert listed["deep/er"]["command"] == "<b>understudy</b>"  # the page shows it as text
    assert listed["half"]["error"] == "result.json is cut off or no JSON; run the command again"
    assert "error" in listed["list"]
    assert "error" in listed["nested"]
    assert client.get("/api/runs/good/result", headers=BEARER).json()["schema"] == "a/1"
    assert client.get("/api/runs/deep/er/result", headers=BEARER).status_code == 200
    assert client.get("/api/runs/half/result", headers=BEARER).status_code == 409
    report = client.get("/api/runs/good/report", headers=BEARER)
    assert report.text == "<script>alert(1)</script>"
    assert report.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert client.get("/api/runs/half/report", headers=BEARER).status_code == 404


@pytest.mark.parametrize(
    "name", ["..", "../secret", "%2e%2e/secret", "/etc", "link", "good%00", "gone", "a" * 5000]
)
def test_nothing_outside_the_folder_is_read(client: TestClient, folder: Path, name: str) -> None:
    run_folder(folder.parent, "secret", "{}", "secret")
    (folder / "link").symlink_to(folder.parent / "secret")
    for what in ("result", "report"):
        answer = client.get(f"/api/runs/{name}/{what}", headers=BEARER)
        assert answer.status_code == 404
        assert "secret" not in answer.text
    assert client.get("/api/runs", headers=BEARER).json()["runs"] == []
    assert client.get("/../secret/report.html").status_code == 404


def test_a_run_that_is_deleted_while_it_is_read(folder: Path) -> None:
    with pytest.raises(ValueError, match="was the run deleted"):
        runs.read(folder / "gone")
    assert "error" in runs.about(folder, folder / "gone")


# Experiments.


def started(client: TestClient, words: list[str]) -> dict[str, Any]:
    answer = client.post("/api/experiments", headers=BEARER, json={"words": words})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def followed(client: TestClient, number: str) -> tuple[list[str], dict[str, Any]]:
    """Follow an experiment to its end; return the lines, and how it ended."""
    events = client.get(f"/api/experiments/{number}/events", headers=BEARER).text.split("\n\n")
    pairs = [event.split("\n", 1) for event in events if event]
    values = [(name, json.loads(data.removeprefix("data: "))) for name, data in pairs]
    assert values[-1][0] == "event: ended"
    return [value for name, value in values if name == "event: log"], values[-1][1]


@pytest.mark.thorough
def test_a_command_is_started_followed_and_listed(client: TestClient, folder: Path) -> None:
    one = started(client, QUICK)
    assert (one["number"], one["state"], one["run"]) == ("0001", "running", "0001-predict")
    lines, ended = followed(client, "0001")
    assert any("understudy predict --disk cheetah-15k4" in line for line in lines)
    assert (ended["state"], ended["exit"]) == ("done", 0)
    [run] = client.get("/api/runs", headers=BEARER).json()["runs"]
    assert run["name"] == "0001-predict"
    assert followed(client, "0001") == (lines, ended)
    wrong = started(client, ["predict", "--schedulers", "nobody"])
    lines, ended = followed(client, wrong["number"])
    assert (ended["number"], ended["state"], ended["exit"]) == ("0002", "failed", 2)
    assert any("nobody" in line for line in lines)
    listed = client.get("/api/experiments", headers=BEARER).json()["experiments"]
    assert [one["number"] for one in listed] == ["0002", "0001"]


@pytest.mark.thorough
def test_a_command_is_cancelled(client: TestClient, folder: Path) -> None:
    number = started(client, SLOW)["number"]
    cancel = f"/api/experiments/{number}/cancel"
    assert client.post(cancel, headers=BEARER).status_code == 200
    lines, ended = followed(client, number)
    assert (ended["state"], ended["exit"]) == ("cancelled", 130)
    assert any("interrupted" in line for line in lines)
    assert client.post(cancel, headers=BEARER).json() == {"error": "0001 has ended"}


@pytest.mark.thorough
def test_an_experiment_whose_keeper_dies_is_lost(client: TestClient, folder: Path) -> None:
    number = started(client, SLOW)["number"]
    own = folder / ".studio" / number
    keeper = json.loads((own / "keeper.json").read_text())["process"]
    [command] = Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()
    os.kill(keeper, signal.SIGKILL)
    os.kill(int(command), signal.SIGINT)
    _, ended = followed(client, number)
    assert (ended["state"], ended["exit"]) == ("lost", None)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no command: the studio starts predict"),
        (["measure", "/dev/sda"], "measure: the studio starts predict"),
        (["predict", "--out", "x"], "--out: the studio names the run folder"),
        (["predict", "--out=x"], "--out: the studio names the run folder"),
        (["predict", "--trace", "/etc/passwd"], "/etc/passwd: outside the studio's folder"),
        (["predict", "--trace=../x"], "../x: outside the studio's folder"),
        (["consolidate", "web=a/../../x"], "a/../../x: outside the studio's folder"),
        (["consolidate", "web=~root/x"], "~root/x: outside the studio's folder"),
        (["consolidate", "web=link/x"], "link/x: outside the studio's folder"),
        (["predict", "a\nb"], "a control character"),
        (["predict", "x" * 2001], "a word of more than 2000 letters"),
        (["predict"] * 201, "a command of more than 200 words"),
    ],
)
def test_other_commands_are_not_started(
    client: TestClient, folder: Path, words: list[str], message: str
) -> None:
    (folder.parent / "x").write_text("secret")
    (folder / "link").symlink_to(folder.parent)
    answer = client.post("/api/experiments", headers=BEARER, json={"words": words})
    assert answer.status_code == 400
    assert message in answer.json()["error"]
    assert not (folder / ".studio").exists()


@pytest.mark.parametrize("body", ["", "{", "[]", '{"words": "predict"}', '{"words": [1]}',
                                  '{"words": [], "shell": true}'])  # fmt: skip
def test_other_bodies_are_refused(client: TestClient, body: str) -> None:
    answer = client.post("/api/experiments", headers=BEARER, content=body)
    assert answer.status_code == 400
    assert "\n" not in answer.json()["error"]


@pytest.mark.parametrize("number", ["0001", "x", "1", "00000000000000000001"])
def test_no_such_experiment(client: TestClient, number: str) -> None:
    assert client.get(f"/api/experiments/{number}/events", headers=BEARER).status_code == 404
    assert client.post(f"/api/experiments/{number}/cancel", headers=BEARER).status_code == 404


def test_a_folder_that_is_spoiled_is_lost(folder: Path) -> None:
    own = folder / ".studio" / "0007"
    own.mkdir(parents=True)
    for text in ("", "[]", '{"exit": "no"', '{"exit": null}'):
        (own / "outcome.json").write_text(text)
        (own / "request.json").write_text(text)
        [one] = experiments.every(folder)
        assert one.as_json()["state"] in ("lost", "failed")
        assert not one.cancel()


def test_a_path_in_the_folder_may_be_named(folder: Path) -> None:
    (folder / "vm1").mkdir()
    experiments.check(folder, ["consolidate", "web=vm1", "--queue-depth", "4", "other.csv:sda"])
    with pytest.raises(UserError):
        experiments.check(folder, ["consolidate", "web=vm1:/etc/passwd"])


# The command.


def asked(link: str) -> httpx.Client:
    """Return a client with the link's token."""
    address, _, token = link.partition("/studio.html?token=")
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=address, headers=headers, timeout=120)


@pytest.mark.thorough
def test_an_experiment_goes_on_when_the_studio_ends(page_folder: Path, folder: Path) -> None:
    """The next studio follows it."""
    with studio_of(folder) as link, asked(link) as client:
        number = client.post("/api/experiments", json={"words": SLOW}).json()["number"]
    with studio_of(folder) as link, asked(link) as client:
        [one] = client.get("/api/experiments").json()["experiments"]
        assert (one["number"], one["state"]) == (number, "running")
        assert client.post(f"/api/experiments/{number}/cancel").status_code == 200
        assert "event: ended" in client.get(f"/api/experiments/{number}/events").text
    [kept] = experiments.every(folder)
    assert kept.state == "cancelled"
