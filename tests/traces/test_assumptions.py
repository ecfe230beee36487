# SPDX-License-Identifier: MIT
"""What a reader assumes, and when it doubts its guess of a format."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from understudy_devices.base.errors import UserError
from understudy_devices.cli.main import main
from understudy_devices.traces.form import Form
from understudy_devices.traces.read import load, recorded

BYTES = "0.0 0 200626176 4096 0\n223.412 0 3159347200 36864 1\n"
SECTORS = "0.0 0 4096 512 0\n223.412 0 8191 512 1\n"


def understudy(*words: str) -> Result:
    return CliRunner().invoke(main, words, catch_exceptions=False)


def written(folder: Path, lines: str) -> str:
    (folder / "t").write_text(lines)
    return str(folder / "t")


@pytest.mark.parametrize(("name", "unit"), [("disksim", "ms"), ("mqsim", "ns")])
def test_bytes_that_would_be_sectors(name: str, unit: str, tmp_path: Path) -> None:
    lines = BYTES if name == "disksim" else BYTES.replace(".", "")
    file = written(tmp_path, lines)
    columns = f"time_{unit},volume,offset,bytes,op_1read"
    with pytest.raises(UserError, match=f"of 512, .*bytes.* --columns {columns} .*{name}"):
        load(file)
    trace = load(file, Form(columns=columns))
    assert (trace.sectors.tolist(), trace.op.tolist()) == ([8, 72], [1, 0])
    assert load(file, Form(name)).sectors.tolist() == [4096, 36864]


def test_one_odd_sector_is_enough(tmp_path: Path) -> None:
    assert load(written(tmp_path, SECTORS)).sector.tolist() == [4096, 8191]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (SECTORS, "times are ms, places and sizes sectors"),
        (SECTORS.replace(".", ""), "times are ns, places and sizes sectors"),
        ("TIME(ms) DISK COMM PID LAT(ms)\n611 nvme0n1 bash 4179 10\n", "is a read of 4,096 bytes"),
    ],
)
def test_assumptions_are_printed(lines: str, message: str, tmp_path: Path) -> None:
    file = written(tmp_path, lines)
    assert message in str(recorded(file).assumed)
    assert f"assumed: {recorded(file).assumed}" in understudy("trace", "info", file).stdout


def test_only_other_kinds(tmp_path: Path) -> None:
    file = written(tmp_path, "21, 775793, 2, 2147483648, 0\n161, 274469, 2, 2147483648, 0\n")
    with pytest.raises(UserError, match="no request in it; 2 neither read nor write"):
        recorded(file)
