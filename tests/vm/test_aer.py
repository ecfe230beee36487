# SPDX-License-Identifier: MIT
"""A card reports a fatal error: its driver recovers it, or works again when it is loaded anew."""

import shutil
from pathlib import Path

from guests import boot, group, text

from understudy_devices.base.paths import cards_dir
from understudy_devices.platforms.vm import debian_programs
from understudy_devices.referee import run
from understudy_devices.referee.faults import Fault

pytestmark = group("aer")

SCENARIO = """
ready() { for _ in $(seq 300); do [ -e "$1" ] && return; sleep 0.1; done; fail "no $1"; }
ready /dev/nvme0n1
device=10000:00:00.0
lspci -vv -s $device > /out/lspci
setpci -s $device ECAP_AER+8.l=ffffffff
setpci -s $device ECAP_AER+0.l ECAP_AER+8.l ECAP_AER+4.l > /out/capability
head -c 20971520 /dev/urandom > /data
for number in 10 200 400; do
	put "error $number" /sys/kernel/vpcib/fault
	dd if=/data of=/dev/nvme0n1 bs=64k oflag=direct 2> /out/dd || fail "$(cat /out/dd)"
	[ "$(cat /sys/kernel/vpcib/fault)" = none ] || fail "no error at $number"
	dd if=/dev/nvme0n1 bs=64k count=320 iflag=direct 2> /dev/null | cmp - /data || fail "other data"
done
setpci -s $device ECAP_AER+4.l > /out/status
dmesg | grep -c 'nvme0: restart after slot reset\\|frozen state error detected' > /out/recovered
"""


def test_debians_driver_recovers() -> None:
    """nvme.ko has error handlers: all writes arrive, though the controller is reset under them."""
    files: dict[str, Path] = {}
    for program in ("lspci", "setpci", "cmp"):
        files |= debian_programs.files(program, "pciutils diffutils")
    modules = {"card_nvme": "", "nvme": ""}
    guest = boot(SCENARIO, modules, files=files, clock="wall", cpus=2, memory_mib=1024)
    assert "Advanced Error Reporting" in text(guest, "lspci")
    # version 2, ID 1; the mask's bits that there are; no error yet
    assert text(guest, "capability").split() == ["00020001", "05fff030", "00000000"]
    assert text(guest, "recovered").strip() == "6"


def test_a_driver_without_handlers_works_when_it_is_loaded_anew(tmp_path: Path) -> None:
    shutil.copy(cards_dir() / "copier.c", tmp_path)
    original = (cards_dir() / "copier.yaml").read_text()
    changed = original.replace(
        "capabilities:\n", "capabilities:\n  pm: {}\n  express: {aer: true}\n"
    )
    (tmp_path / "copier.yaml").write_text(changed)
    drivers = cards_dir() / "drivers"
    subject = run.prepared(
        str(tmp_path / "copier.yaml"),
        drivers / "copier_driver.c",
        drivers / "copier_exercise",
    )
    outcome = run.run(subject, run.Setting(1, 1, Fault("error", 20)))
    assert not outcome.findings, outcome.findings
    assert not outcome.notes, outcome.notes
