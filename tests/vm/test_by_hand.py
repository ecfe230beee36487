# SPDX-License-Identifier: MIT
"""The session by hand in docs/vpt-sysfs.md, exactly as printed there."""

import re
import subprocess
import sys
from pathlib import Path

from guests import GIB, boot, once, text
from places import CHECKOUT

from understudy_devices.platforms.vm.machine import Result

PAGE = (CHECKOUT / "docs" / "vpt-sysfs.md").read_text().partition("\n## A session\n")[2]
SESSION, DECODING = re.findall(r"^```\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[:2]

# A replacement for fio, which would need 80 MB of libraries.
WORKLOAD = """
fio() {
	random --device /dev/$DISK --processes 8 < /dev/null > /dev/null &
	sleep 10
	kill -TERM $!
	wait $!
}
"""
SCENARIO = """
rmmod cats && rmmod vpt && rmmod iprobe || fail 'they stay'
ln -s /modules by-hand
sh -e /session > /out/said 2>&1 || fail "$(cat /out/said)"
mv /tmp/records /out
ls /sys/module > /out/modules
"""


@once
def session() -> Result:
    """Boot the VM and run the session."""
    return boot(
        SCENARIO,
        {"iprobe": "", "vpt": "", "cats": "", "vdisk": f"size={2 * GIB}"},
        files={"session": WORKLOAD + SESSION.replace("DISK=sdx", "DISK=vdisk")},
    )


def test_the_session() -> None:
    """All requests are recorded and on time, and no module is left."""
    output = text(session(), "said")
    assert re.search(r"^1000 1000 1000$", output, re.MULTILINE)
    for counter in ("late_permille", "stale", "missed", "untracked", "lost"):
        assert f"{counter}:0\n" in output
    assert "/iosched/table_picks:" in output
    assert not {"cats", "vpt", "iprobe"} & set(text(session(), "modules").split())


def test_what_the_session_recorded(tmp_path: Path) -> None:
    """The page's Python lines decode the records."""
    (tmp_path / "records").write_bytes(session().out["records"])
    lines = DECODING.replace(".venv/bin/python", sys.executable)
    lines = lines.replace("/tmp/records", str(tmp_path / "records"))
    done = subprocess.run(
        lines, shell=True, cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    assert "shape: (1_000, " in done.stdout
