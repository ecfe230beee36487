# SPDX-License-Identifier: MIT
"""Folders that others have made: one that is wrong does not hide the rest."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from understudy_devices.cards.journal import ACCESS
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
