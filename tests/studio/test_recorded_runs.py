# SPDX-License-Identifier: MIT
"""The requests of a run folder, as the studio sends them, and what may be wrong with a folder."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from run_folders import written
from starlette.testclient import TestClient

from understudy_devices.show import views
from understudy_devices.studio import recorded_runs, server

PORT = 4321
SCHEDULERS = ("cats", "bfq")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return a run folder, in a folder of its own."""
    written(tmp_path / "runs" / "mine", SCHEDULERS, (3, 4))
    return tmp_path / "runs" / "mine"


@pytest.fixture
def client(run: Path, tmp_path: Path) -> TestClient:
    """Return a client of the studio, with the token."""
    app = server.application(run.parent, tmp_path, "/secret/", "right", PORT)
    headers = {"Authorization": "Bearer right"}
    return TestClient(app, base_url=f"http://127.0.0.1:{PORT}/secret/", headers=headers)


def test_the_runs_are_listed_and_sent_one_by_one(client: TestClient, tmp_path: Path) -> None:
    found = written(tmp_path / "again", SCHEDULERS, (3, 4))
    listed = client.get("/api/runs/mine/recorded").json()
    assert (listed["platform"], listed["disk"]) == ("vm", "cheetah-15k4")
    assert listed["runs"] == [
        {"scheduler": name, "seed": seed, "requests": 200} for name in SCHEDULERS for seed in (3, 4)
    ]
    answer = client.get("/api/runs/mine/requests?scheduler=bfq&seed=4")
    outcome = found.outcomes[3]
    rows = views.timed(outcome.requests, found.summaries[3].scale)
    device, sectors = outcome.experiment.device, found.summaries[3].capacity_sectors
    assert answer.content == views.packed([views.Run("bfq", rows, 200)], sectors, device)


def test_half_a_pair_of_utf_16_in_a_disks_name_is_shown(client: TestClient, run: Path) -> None:
    file = run / "result.json"
    document = json.loads(file.read_text())
    document["inputs"]["disk"]["name"] = "half \ud800"
    file.write_text(json.dumps(document))
    assert client.get("/api/runs/mine/recorded").json()["disk"] == "half ?"


def test_of_a_long_run_the_first_requests_are_sent(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = client.get("/api/runs/mine/requests?scheduler=cats&seed=3").content
    monkeypatch.setattr(recorded_runs, "MOST", 20)
    some = client.get("/api/runs/mine/requests?scheduler=cats&seed=3").content
    assert b'"requests":200' in some
    assert b'"responses":null' in whole
    assert b'"responses":null' not in some


def older(run: Path) -> None:
    document = json.loads((run / "result.json").read_text())
    (run / "result.json").write_text(json.dumps(document | {"schema": "understudy.result/0"}))


def half_a_table(run: Path) -> None:
    content = (run / "requests.parquet").read_bytes()
    (run / "requests.parquet").write_bytes(content[: len(content) // 2])


def half_a_result(run: Path) -> None:
    (run / "result.json").write_text((run / "result.json").read_text()[:1000])


def no_runs(run: Path) -> None:
    document = json.loads((run / "result.json").read_text())
    (run / "result.json").write_text(json.dumps(document | {"runs": []}))


def another_table(run: Path) -> None:
    shutil.copy(run / "result.json", run / "requests.parquet")


def changed(**columns: pl.Expr) -> Callable[[Path], None]:
    """Return what changes columns of a table."""

    def damage(run: Path) -> None:
        file = run / "requests.parquet"
        pl.read_parquet(file).with_columns(**columns).write_parquet(file)

    return damage


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (changed(sector=pl.lit(-5)), "has impossible numbers (sector is -5); run it again"),
        (changed(sector=pl.lit(2**60)), f"has impossible numbers (sector is {2**60})"),
        (changed(owner=pl.lit(2**64 - 1, pl.UInt64)), "has impossible numbers"),
        (changed(reason=pl.lit("because")), "has impossible numbers"),
        (changed(seed=pl.lit("3")), "seed has a wrong type; run it again"),
        (changed(seed=pl.lit(None, pl.Int64)), "no such run; there are: "),
        (changed(completion_ns=pl.lit(None, pl.Int64)), "no request has the times of both"),
    ],
)
def test_a_table_with_impossible_numbers_is_refused_in_a_line(
    client: TestClient, run: Path, damage: Callable[[Path], None], words: str
) -> None:
    damage(run)
    answer = client.get("/api/runs/mine/requests?scheduler=cats&seed=3")
    assert answer.status_code == 409
    assert words in answer.json()["error"]
    assert "\n" not in answer.json()["error"]


def test_a_run_with_too_many_requests_is_not_read(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded_runs, "READ", 199)
    answer = client.get("/api/runs/mine/requests?scheduler=cats&seed=3")
    assert answer.status_code == 409
    assert "more than 199 requests; understudy export can read them" in answer.json()["error"]


def test_a_folder_with_too_many_requests_is_not_listed(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded_runs, "READ", 799)
    for path in ("recorded", "requests?scheduler=fcfs&seed=3"):
        answer = client.get(f"/api/runs/mine/{path}")
        assert answer.status_code == 409
        assert "800 requests, more than 799; run it with fewer seeds" in answer.json()["error"]
    monkeypatch.setattr(recorded_runs, "READ", 800)
    assert len(client.get("/api/runs/mine/recorded").json()["runs"]) == 4


@pytest.mark.parametrize(
    ("damage", "status", "words"),
    [
        (older, 409, "its schema is understudy.result/0, and this is made for understudy.result/1"),
        (half_a_table, 409, "is not a table of requests"),
        (half_a_result, 409, "result.json is cut off or no JSON; run the command again"),
        (no_runs, 409, "result.json is incomplete"),
        (another_table, 409, "is not a table of requests"),
        (lambda run: (run / "requests.parquet").unlink(), 409, "no requests in it"),
        (shutil.rmtree, 404, "it was deleted, or has another name now"),
    ],
)
def test_what_is_wrong_with_a_folder_is_said_in_a_line(
    client: TestClient, run: Path, damage: Callable[[Path], None], status: int, words: str
) -> None:
    damage(run)
    for path in ("recorded", "requests?scheduler=cats&seed=3"):
        answer = client.get(f"/api/runs/mine/{path}")
        assert answer.status_code == status
        error = answer.json()["error"]
        assert words in error
        assert "\n" not in error


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("scheduler=fcfs&seed=3", 409, "no such run; there are: "),
        ("scheduler=cats&seed=9", 409, "no such run; there are: "),
        ("scheduler=cats", 400, "name a scheduler and a seed"),
        ("scheduler=cats&seed=-1", 400, "name a scheduler and a seed"),
        ("seed=3", 400, "name a scheduler and a seed"),
    ],
)
def test_a_run_that_is_not_there(client: TestClient, query: str, status: int, words: str) -> None:
    answer = client.get(f"/api/runs/mine/requests?{query}")
    assert (answer.status_code, words in answer.json()["error"]) == (status, True)


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("", 400, "name 2 to 20 runs"),
        ("run=mine", 400, "name 2 to 20 runs"),
        ("&".join(["run=mine"] * 21), 400, "name 2 to 20 runs"),
        ("run=mine&run=../mine", 404, "no such run"),
        ("run=mine&run=yours", 404, "yours: no such run"),
    ],
)
def test_runs_to_compare_that_are_not_there(
    client: TestClient, query: str, status: int, words: str
) -> None:
    answer = client.get(f"/api/comparison?{query}")
    assert (answer.status_code, words in answer.json()["error"]) == (status, True)


def test_a_run_that_cannot_be_compared_has_a_line(client: TestClient, run: Path) -> None:
    written(run.parent / "small", SCHEDULERS, (3,), requests=100)
    written(run.parent / "same", SCHEDULERS, (3,))
    answer = client.get("/api/comparison?run=mine&run=small&run=same").json()
    small, same = answer["others"]
    assert small["error"].startswith("requests is 200 in mine and 100 in small")
    assert (same["name"], same["seeds"], same["alone"]) == ("same", [3], [])
    assert same["real"]["platform"] == "vm"
    assert set(answer["measures"]) >= {each["measure"] for each in same["measures"]}
