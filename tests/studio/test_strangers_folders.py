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
    app = server.application(folder, tmp_path, "right", PORT)
    headers = {"Authorization": "Bearer right"}
    return TestClient(app, base_url=f"http://127.0.0.1:{PORT}", headers=headers)


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
        monkeypatch.setattr(module, "_folders", lambda *_, both=both: both)
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
