# SPDX-License-Identifier: MIT
"""A measured disk beside its prediction: the papers' Tables 2 and 3, as far as one machine can have
both halves.

The "real" disk has known times: vdisk under our throttle, in wall clock, is measured like any disk
of a machine. The simulator predicts it from the same profile.
"""

import json
from pathlib import Path

import pytest
import whole_host
from click.testing import CliRunner
from guests import CHEETAH, group, once

from understudy_devices.cli.main import main
from understudy_devices.platforms.vm import scenario
from understudy_devices.platforms.vm.machine import Result

SIZE = 1_499_463_680
ASKED = ("--workload", "random", "--processes", "8", "--requests", "400", "--seeds", "2")
CHOSEN = ("--schedulers", "none,sstf,mq-deadline")
MODULES = {"iprobe": "", "vpt": "", "vdisk": f"size={SIZE}", "sstf": ""}
WORDS = ("measure", "--on", "/dev/vdisk", *ASKED, *CHOSEN, "--out", "/run/real")
# No report, since an emulated processor needs half a minute for its pictures.
MEASURE = f"""\
from types import SimpleNamespace
from understudy_devices import show
from understudy_devices.cli.main import main

show.report = SimpleNamespace(render=lambda found: "not drawn")
main({list(WORDS)})
"""
SCRIPT = f"""
vpt=/sys/kernel/vpt/vdisk
put() {{
	echo "$1" > "$2" || exit 1
}}
{scenario.profile(CHEETAH.timing(SIZE // 512), 1)}
put /dev/vdisk /sys/kernel/vpt/add
profile
put 1000 $vpt/scale_milli
python - <<'EOF' || exit 1
{MEASURE}EOF
cp /run/real/result.json /out/result.json
put vdisk /sys/kernel/vpt/remove
"""


@once
def measured() -> Result:
    """Boot the VM that measures its disk."""
    return whole_host.run(SCRIPT, MODULES)


@group("measured-beside")
@pytest.mark.slow
def test_both_halves_of_a_table(tmp_path: Path) -> None:
    """No scheduler was served faster than by the model.

    How much slower it was, and how the schedulers rank, depends on the host and is only printed.
    """
    real, virtual = tmp_path / "real", tmp_path / "virtual"
    real.mkdir()
    (real / "result.json").write_bytes(measured().out["result.json"])
    words = ("--disk", CHEETAH.name, "--virtual-size", f"{SIZE}B", "--out", str(virtual))
    done = CliRunner().invoke(main, ["predict", *ASKED, *CHOSEN, *words])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(main, ["compare-runs", str(real), str(virtual), "--json"])
    assert done.exit_code == 0, done.output
    print(CliRunner().invoke(main, ["compare-runs", str(real), str(virtual)]).stdout)
    measures = {entry["measure"]: entry for entry in json.loads(done.stdout)["measures"]}
    assert {"mean_response_ms", "throughput_sectors_per_ms"} < set(measures)
    figures = measures["mean_service_ms"]["schedulers"]
    assert set(figures) == {"none", "sstf", "mq-deadline"}
    for beside in figures.values():
        assert beside["real"] > 0.98 * beside["virtual"]
