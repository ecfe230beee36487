# SPDX-License-Identifier: MIT
"""biosnoop's layouts: I/O without a process, -P, -t, kinds of several letters, a lost header."""

from pathlib import Path

import pytest

from understudy_devices.base.errors import UserError
from understudy_devices.traces.form import Form
from understudy_devices.traces.read import load, recorded
from understudy_devices.traces.trace import Trace

HEADER = "TIME(s)        COMM           PID    DISK    T  SECTOR    BYTES   LAT(ms)\n"
DAY = "TIMESTAMP    COMM           PID     DISK    T    SECTOR     BYTES   LAT(ms)\n"
LINE = "3.280000000    kworker/u4:0   14871  sdq     W  4096      4096       0.25\n"
UNKNOWN = "0.000000000    ?              0              R  -1        8          0.26\n"
NO_DISK = "1.000000000    ?              0              R  64        512        0.26\n"
MS = 10**6


def written(folder: Path, text: str) -> str:
    (folder / "t").write_text(text)
    return str(folder / "t")


def one(trace: Trace) -> tuple[object, ...]:
    assert len(trace) == 1
    return trace.sector[0], trace.sectors[0], trace.op[0], trace.response_ns()[0], trace.volumes


@pytest.mark.parametrize("last", [UNKNOWN, NO_DISK])
def test_requests_of_no_known_process(last: str, tmp_path: Path) -> None:
    trace = load(written(tmp_path, HEADER + UNKNOWN + LINE + NO_DISK + last))
    assert one(trace) == (4096, 8, 1, 250_000, ("sdq",))
    assert sum(trace.left_out.values()) == 3
    assert set(trace.left_out) == {"without a sector", "without a disk"}


def test_pattern_column(tmp_path: Path) -> None:
    for queue, waited in (("", 0), ("QUE(ms) ", 500_000)):
        header = HEADER.replace("LAT", f"P {queue}LAT")
        time = "0.50 0.25" if queue else "0.25"
        trace = load(written(tmp_path, header + LINE.replace("0.25", f"R {time}")))
        assert one(trace) == (4096, 8, 1, 250_000 + waited, ("sdq",))


def test_times_of_day_across_midnight(tmp_path: Path) -> None:
    late = "23:59:59.900 mount          163467  sde     WSM  4096   524288    1.422\n"
    early = "00:00:00.100 mount          163467  sde     RA   8      512       1.422\n"
    trace = load(written(tmp_path, DAY + late + early))
    assert trace.arrival_ns.tolist() == [0, 200 * MS]
    assert trace.op.tolist() == [1, 0]
    assert trace.response_ns().tolist() == [1_422_000, 1_422_000]


def test_a_lost_header(tmp_path: Path) -> None:
    """A request in the first line is enough; behind prose, the format's name is needed."""
    file = written(tmp_path, LINE)
    assert one(load(file)) == (4096, 8, 1, 250_000, ("sdq",))
    queue = written(tmp_path, LINE.replace("0.25", "0.50 0.25"))
    assert load(queue).response_ns().tolist() == [750_000]
    prose = written(tmp_path, f"My disk is slow:\n{LINE}")
    with pytest.raises(UserError, match="is in no format"):
        load(prose)
    assert one(load(prose, Form("biosnoop"))) == (4096, 8, 1, 250_000, ("sdq",))
    with pytest.raises(UserError, match="neither the header of biosnoop's output nor a request"):
        recorded(written(tmp_path, "TIME COMM\nx y\n"), Form("biosnoop"))


def test_a_wrong_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="line 3: no line of biosnoop's: 1 2 3"):
        load(written(tmp_path, HEADER + LINE + "1 2 3\n" + LINE))
