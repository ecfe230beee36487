# SPDX-License-Identifier: MIT
"""Whatever a target answers, `profile` ends with a readable profile or a clear one-line error."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import understudy_devices as us
from oracle.detailed.drive import DetailedDrive, random_parameters
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.cli.main import main
from understudy_devices.profiler.findings import document
from understudy_devices.profiler.findings.finding import Finding
from understudy_devices.profiler.profile_fit import Fitted

pytestmark = pytest.mark.thorough

Answer = Callable[[str, int, int, float, int], float]
"""(op, sector, time of sending, service time, number of the request) -> changed service time."""


def odd(draw: random.Random) -> tuple[str, Answer]:
    """Return a random oddity that no probe expects."""
    share, ns = draw.choice((0.01, 0.1, 0.5)), draw.choice((1e4, 1e5, 1e6, 5e6))
    salt = draw.randrange(10**6)

    def chance(number: int) -> float:
        return random.Random(salt * 1_000_003 + number).random()

    oddities: dict[str, Answer] = {
        "misses now and then": lambda op, at, sent, took, n: took + 10 * ns * (chance(n) < share),
        "hits now and then": lambda op, at, sent, took, n: (
            min(took, ns / 10) if chance(n) < share else took
        ),
        "is late": lambda op, at, sent, took, n: took + ns * chance(n),
        "counts in ticks": lambda op, at, sent, took, n: -(-took // ns) * ns,
        "slow places": lambda op, at, sent, took, n: took + ns * ((at >> 14) % 7 == salt % 7),
        "takes no time for most": lambda op, at, sent, took, n: took - ns,
        "forgets writes": lambda op, at, sent, took, n: 1000 if op == "write" else took,
        "slow writes": lambda op, at, sent, took, n: 5 * took + ns if op == "write" else took,
        "gets slower": lambda op, at, sent, took, n: took * (1 + min(share, sent * 1e-13)),
        "stands still": lambda op, at, sent, took, n: took + 20 * ns * (n % 1000 < 1000 * share),
        "times by sector": lambda op, at, sent, took, n: (
            took * (0.5 + (at * 2654435761 >> 8) % 1000 / 1000)
        ),
        "is another one soon": lambda op, at, sent, took, n: took * (1 + share * (n > 5000)),
    }
    name = draw.choice(sorted(oddities))
    return name, oddities[name]


class Hostile:
    """A detailed drive with one to three oddities, and sometimes with an unusual cache size."""

    writable = True

    def __init__(self, seed: int) -> None:
        draw = random.Random(f"hostile {seed}")
        parameters = random_parameters(seed)
        if draw.random() < 0.4:
            parameters = replace(
                parameters,
                segment_sectors=draw.choice((300, 5000, 600_000)),
                ahead_stops_at_track_end=draw.random() < 0.7,
            )
        self._drive = DetailedDrive(parameters)
        self.capacity_sectors = self._drive.capacity_sectors
        self.oddities = dict(odd(draw) for _ in range(draw.choice((1, 1, 2, 3))))
        self._number = 0
        self._free_ns = 0

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        self._number += 1
        sent_ns = max(at_ns, self._free_ns)
        self._free_ns = self._drive.request(op, sector, sectors, sent_ns)
        took_ns: float = self._free_ns - sent_ns
        for answer in self.oddities.values():
            took_ns = answer(op, sector, at_ns, took_ns, self._number)
        return at_ns + max(0, int(took_ns))


def profiled(target: Hostile, seed: int) -> tuple[Fitted | None, str]:
    """Return a profile, or else the error message."""
    try:
        return us.profile(target, seed, destroy_data=True), ""
    except (RunFailed, UserError) as error:
        return None, str(error)


@pytest.mark.parametrize(
    "seed", [*range(1, 9), *(pytest.param(n, marks=pytest.mark.slow) for n in range(9, 49))]
)
def test_a_profile_or_one_clear_line(seed: int, tmp_path: Path) -> None:
    target = Hostile(seed)
    fitted, message = profiled(target, seed)
    if not fitted:
        assert "\n" not in message, target.oddities
        assert message.startswith("target: "), target.oddities
        return
    file = tmp_path / "hostile.toml"
    file.write_text(fitted.to_toml())
    result = CliRunner().invoke(main, ["disks", "show", str(file)])
    assert result.exit_code == 0, (target.oddities, result.output)


SEEK = [Finding("seek.ms", [1.0, 9.0]), Finding("seek.at", [0.0, 1.0])]
BUFFER = [
    Finding("buffer.bus_mb_per_s", 10.0),
    Finding("buffer.read_hit_us", 100.0),
    Finding("buffer.segments", 2),
    Finding("buffer.segment_sectors", 100),
]


def test_what_contradicts_the_rest_is_not_seen() -> None:
    """Only the contradicting finding is dropped."""
    wrong = Finding("buffer.read_ahead_sectors", 307)
    findings = document.complete([*SEEK, *BUFFER, wrong])
    assert [finding for finding in findings if finding.value is not None] == [*SEEK, *BUFFER]
    [dropped] = [finding for finding in findings if finding.value is None]
    assert dropped.key == wrong.key
    assert dropped.confidence == "not seen: 307 is more than a segment's 100"
    buffer = document.disk([*SEEK, *BUFFER, wrong]).buffer
    assert buffer
    assert (buffer.segments, buffer.read_ahead_sectors) == (2, 0)


def test_a_section_that_lacks_what_it_needs_is_dropped() -> None:
    lacking = [finding for finding in BUFFER if finding.name != "read_hit_us"]
    findings = document.complete([*SEEK, *lacking])
    assert [finding.key for finding in findings if finding.value is not None] == [
        "seek.ms",
        "seek.at",
    ]
    assert document.disk([*SEEK, *lacking]).buffer is None


def test_without_seeks_there_is_no_profile() -> None:
    with pytest.raises(
        RunFailed, match=r"^target: no profile can describe this drive: .*model: is missing"
    ):
        document.disk(BUFFER)
