# SPDX-License-Identifier: MIT
"""The program that runs blktests, tried with a small suite of the same interface.

The suite has a script `check`, and writes each test's result to a file by output folder, disk and
test.
"""

from pathlib import Path

import pytest
from blktests import main, table, worse

CHECK = """#!/bin/bash
. config
result() { # STATUS DISK TEST
	mkdir -p "$output/$2/own"
	printf 'runtime\\t1s\\nstatus\\t%s\\n' "$1" > "$output/$2/own/$3"
}
for word in "$@"; do
	case $word in --output=*) output=${word#*=} ;; esac
done
for device in "${TEST_DEVS[@]}"; do
	disk=${device##*/}
	status=fail
	fio --name=one --filename="$device" --rw=randread --bs=4k --size=1m --number_ios=20 \\
		--direct=1 > /dev/null && status=pass
	result $status "$disk" 001
	status=pass
	grep -q 'mq-deadline\\]\\|none\\]' "/sys/block/$disk/queue/scheduler" || status=fail
	result $status "$disk" 002
	result fail "$disk" 003
done
echo "ran ${*: -1} for $TIMEOUT s: $(find "$output" -type f -printf x)"
"""


def test_what_only_ours_fail_is_found(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """There are two disks, the kernel's schedulers and one of ours. The second test fails only with
    ours.
    """
    (tmp_path / "tests").mkdir()
    (tmp_path / "check").write_text(CHECK)
    (tmp_path / "check").chmod(0o755)
    assert main([str(tmp_path), "own", "--schedulers", "sstf", "--seconds", "3"]) == 1
    output, errors = capfd.readouterr()
    assert output.count("ran own for 3 s: xxxxxx") == 3
    rows = [line.split() for line in output.splitlines() if line.startswith(("sda", "nullb0"))]
    assert rows == [
        [disk, f"own/{test}", *came_to]
        for disk in ("nullb0", "sda")
        for test, came_to in (
            ("001", ["pass", "pass", "pass"]),
            ("002", ["pass", "pass", "fail"]),
            ("003", ["fail", "fail", "fail"]),
        )
    ]
    assert [line for line in errors.splitlines() if line.startswith("passes")] == [
        "passes without us, and not nullb0 own/002 with sstf",
        "passes without us, and not sda own/002 with sstf",
    ]


def test_a_test_that_did_not_run_does_not_count() -> None:
    """A test that did not run with ours counts if it passed with all of the kernel's schedulers."""
    before = {"none": {"sda a": "pass", "sda b": "pass"}, "kyber": {"sda a": "pass"}}
    assert worse(before, {"cats": {"sda a": "pass"}}) == []
    assert worse(before, {"cats": {"sda b": "pass"}}) == ["sda a with cats"]
    assert list(table({"none": {"sda a": "pass"}, "cats": {}}))[1].split()[-2:] == ["not", "run"]


def test_a_folder_without_the_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().err == (
        f"error: {tmp_path}: no blktests here: it has a script `check` and a folder `tests`\n"
    )


def test_an_unknown_scheduler(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path), "--schedulers", "cats,lift"])
    assert ended.value.code == 2
    assert "no scheduler lift; there are anticipatory, " in capsys.readouterr().err
