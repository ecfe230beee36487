# SPDX-License-Identifier: MIT
"""Folders that others have made: one that is wrong does not hide the rest."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_folders import written
from starlette.testclient import TestClient

from understudy_devices.cards.journal import ACCESS, What
from understudy_devices.referee import kept_files
from understudy_devices.studio import journals, runs, server

PORT = 4321
NO_UTF_8 = os.fsdecode(b"caf\xe9")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the studio's folder, with a run and a journal."""
    folder = tmp_path / "results"
    (folder / "good").mkdir(parents=True)
    (folder / "good" / "result.json").write_text("{}")
    kept_files.begin("zach1", folder / "card", ["demo"])
    (folder / "card" / "demo.journal").write_bytes(np.zeros(1, ACCESS).tobytes())
    return folder


@pytest.fixture
def client(folder: Path, tmp_path: Path) -> TestClient:
    """Return a client of the studio, with the token."""
    app = server.application(folder, tmp_path, "/secret/", "right", PORT)
    headers = {"Authorization": "Bearer right"}
    return TestClient(app, base_url=f"http://127.0.0.1:{PORT}/secret/", headers=headers)


def names(client: TestClient, what: str) -> list[str]:
    """Return the names in a list."""
    return [one["name"] for one in client.get(f"/api/{what}").json()["runs"]]


def test_names_that_are_not_utf_8_are_left_out(client: TestClient, folder: Path) -> None:
    shutil.copytree(folder / "good", folder / NO_UTF_8)
    shutil.copytree(folder / "card", folder / NO_UTF_8 / "card")
    shutil.copy(folder / "card" / "demo.journal", folder / "card" / f"{NO_UTF_8}.journal")
    (folder / "card" / f"{NO_UTF_8}.png").touch()
    assert names(client, "runs") == ["good"]
    [card] = client.get("/api/journals").json()["runs"]
    assert card == {"name": "card", "journals": ["demo"], "pictures": []}


def test_half_a_pair_of_utf_16_is_shown_as_a_question_mark(
    client: TestClient, folder: Path
) -> None:
    text = json.dumps({"schema": "\ud800/1", "command": "understudy \udfff"})
    (folder / "good" / "result.json").write_text(text)
    [run] = client.get("/api/runs").json()["runs"]
    assert (run["schema"], run["command"]) == ("?/1", "understudy ?")


def test_a_folder_that_is_deleted_while_it_is_listed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, there in ((runs, "good"), (journals, "card")):
        both = [folder / there, folder / "gone"]
        monkeypatch.setattr(module, "latest_first", lambda *_, both=both: both)
    listed, _ = runs.every(folder)
    assert [one.get("error", "")[-20:] for one in listed] == ["", "was the run deleted?"]
    assert [one["name"] for one in journals.every(folder)] == ["card"]


@pytest.mark.filterwarnings("ignore:invalid value encountered in subtract")
@pytest.mark.parametrize(
    "change",
    [
        lambda result: result["inputs"].pop("disk_digest"),
        lambda result: result["inputs"].pop("depth"),
        lambda result: result["inputs"]["disk"].update(facts="none"),
        lambda result: result["inputs"]["disk"].update(name="\ud800"),
        lambda result: [run.update(p99_response_ms="long") for run in result["runs"]],
        lambda result: [run.update(p99_response_ms=float("inf")) for run in result["runs"]],
    ],
)
def test_a_result_with_impossible_values_is_not_compared_and_the_others_are(
    client: TestClient, folder: Path, change: Callable[[Any], None]
) -> None:
    for name in ("one", "bad", "two"):
        written(folder / name, ("cats", "bfq"), (3, 4))
    file = folder / "bad" / "result.json"
    result = json.loads(file.read_text())
    change(result)
    file.write_text(json.dumps(result))
    answer = client.get("/api/comparison?run=one&run=bad&run=two&run=good")
    bad, two, good = answer.json()["others"]
    assert two["measures"]
    assert "its schema is not" in good["error"]
    assert "has impossible values" in bad["error"]
    assert "\n" not in bad["error"]


def test_deep_json_is_not_compared(client: TestClient, folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "result.json").write_text("[" * 100_000)
    [deep] = client.get("/api/comparison?run=good&run=deep").json()["others"]
    assert "is cut off or no JSON" in deep["error"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 100_000, id="deep"),
        "[]",
        "{}",
        '{"findings": 5, "notes": [], "missed": 0}',
        '{"findings": [], "notes": [], "missed": NaN}',
        '{"findings": [], "notes": null, "missed": 0}',
        '{"findings": [{"rule": "\\ud800", "access": 1, "text": ""}], "notes": [], "missed": 0}',
    ],
)
def test_findings_of_another_form(client: TestClient, folder: Path, text: str) -> None:
    (folder / "card" / "demo-findings.json").write_text(text)
    answer = client.get("/api/journals/card/demo/accesses")
    assert answer.status_code == 409
    assert "is cut off or of another form: run the card again" in answer.json()["error"]


def test_a_journal_with_numbers_of_no_meaning(client: TestClient, folder: Path) -> None:
    record = np.zeros(1, ACCESS)
    record["what"], record["value"] = What.MISUSE, 99
    (folder / "card" / "demo.journal").write_bytes(record.tobytes())
    answer = client.get("/api/journals/card/demo/accesses")
    assert answer.status_code == 409
    assert "no journal of this version" in answer.json()["error"]


def test_any_records_are_shown_or_refused(client: TestClient, folder: Path) -> None:
    random = np.random.default_rng(1)
    for what in What:
        record = np.frombuffer(random.bytes(ACCESS.itemsize), ACCESS).copy()
        record["what"], record["context"] = what, 0
        (folder / "card" / "demo.journal").write_bytes(record.tobytes())
        assert client.get("/api/journals/card/demo/accesses").status_code in (200, 409)


# What is no file of the folder: a link out of it, or a FIFO, which would block the server.


def link(file: Path) -> None:
    """Put a link in the place of a file, which moves out of the studio's folder."""
    file.symlink_to(file.rename(file.parents[2] / f"secret-{file.name}"))


def fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


@pytest.mark.parametrize("spoil", [link, fifo])
def test_files_of_a_run_that_are_not_in_its_folder(
    client: TestClient, folder: Path, spoil: Callable[[Path], None]
) -> None:
    written(folder / "one", ("cats", "bfq"), (3, 4))
    written(folder / "two", ("cats", "bfq"), (3, 4))
    assert client.get("/api/runs/one/report").status_code == 200
    spoil(folder / "one" / "report.html")
    assert client.get("/api/runs/one/report").status_code == 404
    assert [one["has_report"] for one in client.get("/api/runs").json()["runs"]].count(True) == 1
    spoil(folder / "one" / "requests.parquet")
    for path in ("recorded", "requests?scheduler=cats&seed=3"):
        answer = client.get(f"/api/runs/one/{path}")
        assert (answer.status_code, "no requests in it" in answer.json()["error"]) == (409, True)
    spoil(folder / "one" / "result.json")
    assert sorted(names(client, "runs")) == ["good", "two"]
    assert client.get("/api/runs/one/result").status_code == 404
    with pytest.raises(ValueError, match="no file of the run"):
        runs.read(folder / "one")


@pytest.mark.parametrize("spoil", [link, fifo])
def test_files_of_a_card_that_are_not_in_its_folder(
    client: TestClient, folder: Path, spoil: Callable[[Path], None]
) -> None:
    card = folder / "card"
    kept_files.judge(card, "demo", [], [], 0)
    (card / "frame.png").touch()
    assert client.get("/api/journals/card/pictures/frame.png").status_code == 200
    spoil(card / "frame.png")
    assert client.get("/api/journals/card/pictures/frame.png").status_code == 404
    assert client.get("/api/journals").json()["runs"][0]["pictures"] == []
    spoil(card / "demo-findings.json")
    answer = client.get("/api/journals/card/demo/accesses")
    assert (answer.status_code, "no file of the run" in answer.json()["error"]) == (409, True)
    spoil(card / "zach1.yaml")
    answer = client.get("/api/journals/card/demo/card")
    assert (answer.status_code, "0 specifications" in answer.json()["error"]) == (409, True)
    spoil(card / "demo.journal")
    assert client.get("/api/journals/card/demo/card").status_code == 404
    assert names(client, "journals") == []


def test_a_link_in_a_circle_is_no_file(client: TestClient, folder: Path) -> None:
    (folder / "card" / "round.journal").symlink_to("round.journal")
    (folder / "round").symlink_to("round")
    assert client.get("/api/journals").json()["runs"][0]["journals"] == ["demo"]
    assert client.get("/api/journals/card/round/card").status_code == 404
    assert client.get("/api/journals/round/demo/card").status_code == 404
    assert client.get("/api/runs/round/result").status_code == 404
