# SPDX-License-Identifier: MIT
"""`understudy serve-disk` as a separate process, and its records."""

import json
import os
import re
import signal
import struct
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbd import Client
from terminal import COMMAND, PATIENCE_SECONDS, Home

READY = "Ctrl-C ends it"
ROW = struct.Struct("<8Q2IiH2B")  # kernel/vpt/record.h
READ, WRITE, OTHER = range(3)


@dataclass(frozen=True)
class Row:
    """One request; times are in ns of CLOCK_MONOTONIC."""

    arrival_ns: int
    pick_ns: int
    dispatch_ns: int
    due_ns: int
    completion_ns: int
    sector: int
    request_id: int
    service_ns: int
    sectors: int
    owner: int
    error: int
    flags: int
    op: int
    reason: int

    @property
    def hit(self) -> bool:
        return bool(self.flags & 1)

    @property
    def late(self) -> bool:
        return bool(self.flags & 2)


class Served:
    """A served disk with its own home, socket and records."""

    def __init__(self, home: Home, *words: str, extra: Mapping[str, str] | None = None) -> None:
        self.home = home
        self.socket = home.work / "disk.sock"
        self.records = home.work / "records"
        self.words = [*words, "--records", str(self.records), "--json"]
        if "--port" not in words:
            self.words += ["--socket", str(self.socket)]
        self.process = subprocess.Popen(
            [str(COMMAND), "serve-disk", *self.words],
            cwd=home.work,
            env=home.environment() | dict(extra or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.said = ""

    def wait_until_ready(self) -> None:
        """Wait until the server is ready; fail if it ends before that."""
        assert self.process.stderr
        for line in self.process.stderr:
            self.said += line
            if line.startswith(READY):
                return
        raise AssertionError(f"it ended: {self.said}")

    def client(self) -> Client:
        port = re.search(r"nbd://127.0.0.1:(\d+)", self.said)
        return Client(int(port[1]) if port else self.socket)

    def end(self, how: int | None = signal.SIGINT) -> dict[str, Any]:
        """Stop the server and return its report."""
        if how is not None:
            os.kill(self.process.pid, how)
        out, errors = self.process.communicate()
        self.said += errors
        return dict(json.loads(out)) if out else {}

    def wait_for_rows(self) -> None:
        """Wait until each request that arrived before an answered request has an answer, too.

        Threads answer in any order, and the thread of a lost client's request may still sleep.
        """
        latest = time.monotonic() + PATIENCE_SECONDS
        while (rows := self.rows()) and rows[-1].request_id > len(rows):
            assert time.monotonic() < latest, f"{len(rows)} of {rows[-1].request_id} answered"
            time.sleep(0.001)

    def rows(self) -> list[Row]:
        """Return the records in order of arrival."""
        all_rows = [Row(*fields) for fields in ROW.iter_unpack(self.records.read_bytes())]
        return sorted(all_rows, key=lambda row: row.request_id)


@contextmanager
def serving(folder: Path, *words: str) -> Iterator[Served]:
    """Serve a disk during the block, and stop the server afterwards if it still runs."""
    served = Served(Home(folder / "home").with_what_is_made(), *words)
    try:
        served.wait_until_ready()
        yield served
    finally:
        if served.process.poll() is None:
            served.end()
