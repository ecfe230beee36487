# SPDX-License-Identifier: MIT
"""`understudy export --perfetto`, read with the messages that Perfetto's own package declares."""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner, Result
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

from understudy_devices.cli.main import main
from understudy_devices.show.perfetto import runs
from understudy_devices.show.perfetto.packets import varint


@dataclass
class Slice:
    """A slice of a track, with the slices in it."""

    name: str
    begin_ns: int
    flow: int
    details: dict[str, Any]
    end_ns: int = -1
    inner: list["Slice"] = field(default_factory=list)


@dataclass
class Read:
    """A trace: the tracks' paths, their slices, and the values of their counters."""

    slices: dict[str, list[Slice]]
    counters: dict[str, list[tuple[int, int]]]


def read(content: bytes) -> Read:
    """Read a trace as trace_processor does: in the file's order, with a stack for each track."""
    packets = perfetto.Trace.FromString(content).packet
    names, details, words = {}, {}, {}
    paths: dict[int, str] = {0: ""}
    slices: dict[str, list[Slice]] = defaultdict(list)
    counters: dict[str, list[tuple[int, int]]] = defaultdict(list)
    stacks: dict[int, list[Slice]] = defaultdict(list)
    last_ns = 0
    for packet in packets:
        if packet.HasField("interned_data"):
            assert packet.sequence_flags == packet.SEQ_INCREMENTAL_STATE_CLEARED
            names = {one.iid: one.name for one in packet.interned_data.event_names}
            details = {one.iid: one.name for one in packet.interned_data.debug_annotation_names}
            texts = packet.interned_data.debug_annotation_string_values
            words = {one.iid: one.str.decode() for one in texts}
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            paths[track.uuid] = f"{paths[track.parent_uuid]}/{track.name}"
        if not packet.HasField("track_event"):
            continue
        assert packet.timestamp >= last_ns
        last_ns = packet.timestamp
        event = packet.track_event
        stack, path = stacks[event.track_uuid], paths[event.track_uuid]
        if event.type == event.TYPE_COUNTER:
            counters[path].append((packet.timestamp, event.counter_value))
        elif event.type == event.TYPE_SLICE_BEGIN:
            known = {
                details[one.name_iid]: words[one.string_value_iid]
                if one.HasField("string_value_iid")
                else one.uint_value
                for one in event.debug_annotations
            }
            (flow,) = event.flow_ids
            one = Slice(names[event.name_iid], packet.timestamp, flow, known)
            (stack[-1].inner if stack else slices[path]).append(one)
            stack.append(one)
        else:
            assert event.type == event.TYPE_SLICE_END
            stack.pop().end_ns = packet.timestamp
    assert not any(stacks.values())
    return Read(slices, counters)


def understudy(*words: str) -> Result:
    """Run a command."""
    return CliRunner().invoke(main, words)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run two schedulers with two seeds; a process has several requests at once."""
    folder = tmp_path_factory.mktemp("perfetto") / "run"
    words = ["--schedulers", "cats,clook", "--requests", "300", "--seeds", "2", "--json"]
    done = understudy("predict", "--workload", "poisson", "--rate", "100", "--processes", "3",
                      *words, "--out", str(folder))  # fmt: skip
    assert done.exit_code == 0, done.output
    return folder


def exported(run: str, out: Path) -> Read:
    """Export, and read what was written."""
    done = understudy("export", "--perfetto", run, "--out", str(out))
    assert done.exit_code == 0, done.output
    assert done.stderr.startswith(f"wrote {out}: ")
    return read(out.read_bytes())


def test_each_request_is_on_its_process_and_on_the_disk(folder: Path, tmp_path: Path) -> None:
    """All four times, the place and the reason are those of requests.parquet."""
    trace = exported(str(folder), tmp_path / "all")
    table = pl.read_parquet(folder / "requests.parquet")
    for (scheduler, seed), rows in table.group_by("scheduler", "seed"):
        run = f"/{scheduler}, seed {seed}"
        for (owner,), each in rows.sort("arrival_ns").group_by("owner"):
            slices = sorted(trace.slices[f"{run}/process {owner}"], key=lambda one: one.begin_ns)
            assert [row(one) for one in slices] == each.select(
                "arrival_ns", "completion_ns", "op", "sector", "sectors", "reason", "dispatch_ns"
            ).rows()
        disk = rows.unique("request_id").sort("dispatch_ns", "request_id")
        served = [(one.begin_ns, one.end_ns, one.name) for one in trace.slices[f"{run}/disk"]]
        names = [f"process {owner}" for owner in disk["owner"]]
        assert served == list(zip(disk["dispatch_ns"], disk["completion_ns"], names, strict=True))
        flows = {one.flow for one in trace.slices[f"{run}/disk"]}
        assert len(flows) == disk.height
        waiting = trace.counters[f"{run}/waiting"]
        assert waiting[-1][1] == 0
        assert max(count for _, count in waiting) > 3
        moved = disk.filter(~pl.col("hit"))
        assert [end for _, end in trace.counters[f"{run}/head"]] == (
            (moved["sector"] + moved["sectors"]).to_list()
        )
    assert len(trace.slices) == 4 * (3 + 1)


def row(one: Slice) -> tuple[Any, ...]:
    """Return a request's row, from its slice."""
    (device,) = one.inner
    assert device.name == "on the disk"
    assert device.end_ns == one.end_ns
    assert device.flow == one.flow
    at = one.details
    return (one.begin_ns, one.end_ns, one.name, at["sector"], at["sectors"], at["reason"],
            device.begin_ns)  # fmt: skip


def test_one_run_is_chosen_as_for_a_trace(folder: Path, tmp_path: Path) -> None:
    """Scheduler and seed; also by the name of the file."""
    first = exported(f"{folder}:cats:2", tmp_path / "one")
    assert {path.split("/")[1] for path in first.slices} == {"cats, seed 2"}
    second = exported(f"{folder / 'requests.parquet'}:cats:2", tmp_path / "two")
    assert second == first
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def table(*rows: dict[str, Any]) -> pl.DataFrame:
    """Return requests of one run."""
    usual = {"scheduler": "fcfs", "seed": 1, "op": "read", "reason": None, "sector": 8,
             "sectors": 8, "owner": 4, "model_service_ns": None, "hit": None}  # fmt: skip
    times = ("arrival_ns", "pick_ns", "dispatch_ns", "completion_ns")
    return pl.DataFrame([usual | {"request_id": i} | each for i, each in enumerate(rows)]).select(
        *usual, "request_id", *times
    )


def at(arrival: int, pick: int, dispatch: int, completion: int, **more: Any) -> dict[str, Any]:
    """Return a request's times."""
    times = {"arrival_ns": arrival, "pick_ns": pick, "dispatch_ns": dispatch}
    return times | {"completion_ns": completion} | more


def of(frame: pl.DataFrame, slowdown: float = 1) -> Read:
    """Return the trace of a table."""
    return read(b"".join(runs.encoded(frame, slowdown)))


def test_events_at_the_same_time_stay_in_order() -> None:
    """A request that arrives when the one before completes is not a part of it, also if it takes
    no time."""
    trace = of(table(at(0, 0, 0, 5), at(5, 5, 5, 5), at(5, 6, 7, 9)))
    slices = trace.slices["/fcfs, seed 1/process 4"]
    assert [(one.begin_ns, one.end_ns) for one in slices] == [(0, 5), (5, 5), (5, 9)]
    assert [[each.name for each in one.inner] for one in slices] == [
        ["on the disk"],
        ["on the disk"],
        ["picked", "on the disk"],
    ]
    assert trace.counters["/fcfs, seed 1/waiting"] == [(0, 0), (5, 1), (7, 0)]


def test_requests_at_once_are_on_tracks_of_the_same_name() -> None:
    """Slices of a track do not overlap; unknown columns are left out; k divides the times."""
    trace = of(table(at(0, 0, 0, 40), at(4, 8, 8, 20), at(20, 20, 40, 48)), slowdown=4)
    slices = trace.slices["/fcfs, seed 1/process 4"]
    assert sorted((one.begin_ns, one.end_ns) for one in slices) == [(0, 10), (1, 5), (5, 12)]
    assert all({"sector", "owner"} < {*one.details} for one in slices)
    assert all({"reason", "hit", "model_service_ns"}.isdisjoint(one.details) for one in slices)


def test_numbers_of_any_size() -> None:
    """Varints, as the format has them."""
    assert [varint(value) for value in (0, 127, 128, 2**63)] == [
        b"\0", b"\x7f", b"\x80\x01", b"\x80" * 9 + b"\x01"
    ]  # fmt: skip
    late = 2**60
    (one,) = of(table(at(late, late, late, late + 1, sector=2**46))).slices[
        "/fcfs, seed 1/process 4"
    ]
    assert (one.begin_ns, one.details["sector"]) == (late, 2**46)


def test_what_is_no_run_is_refused_in_one_line(folder: Path, tmp_path: Path) -> None:
    """No folder, no table, a damaged table, no such run, no place to write to."""
    spoilt = tmp_path / "spoilt"
    spoilt.mkdir()
    (spoilt / "result.json").write_text((folder / "result.json").read_text())
    cases = {
        str(tmp_path / "none"): "not a run folder: it has no result.json",
        str(spoilt): "requests.parquet: is missing; keep the files of a run folder together",
        f"{folder}:sstf": f"there are: {folder}:cats:1, {folder}:cats:2, {folder}:clook:1",
        f"{folder}:cats:7": "no such run",
    }
    for run, words in cases.items():
        refused(words, "export", "--perfetto", run)
    for content in (b"", b"PAR1", (folder / "requests.parquet").read_bytes()[:999]):
        (spoilt / "requests.parquet").write_bytes(content)
        refused("is not a table of requests", "export", "--perfetto", str(spoilt))
    pl.DataFrame({"seed": [1]}).write_parquet(spoilt / "requests.parquet")
    refused("is not a table of requests", "export", "--perfetto", str(spoilt))
    frame = pl.read_parquet(folder / "requests.parquet")
    frame.cast({"sector": pl.String}).write_parquet(spoilt / "requests.parquet")
    refused("sector has a wrong type", "export", "--perfetto", str(spoilt))
    unseen = frame.with_columns(dispatch_ns=pl.lit(None, pl.Int64))
    unseen.write_parquet(spoilt / "requests.parquet")
    refused("no request has the times", "export", "--perfetto", str(spoilt))
    refused("cannot write", "export", "--perfetto", str(folder), "--out", str(spoilt / "a/b"))
    refused("Missing option '--perfetto'", "export", str(folder))
    assert json.loads((spoilt / "result.json").read_text())


def refused(words: str, *command: str) -> None:
    """The command has one line on stderr, with these words, and exit code 1 or 2."""
    done = understudy(*command)
    assert done.exit_code in (1, 2)
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
