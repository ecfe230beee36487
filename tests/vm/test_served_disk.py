# SPDX-License-Identifier: MIT
"""A guest with a served disk: a stock kernel in wall clock, whose virtio disk is served
over NBD.
"""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from guests import boot, group, once, text
from serving import OTHER, READ, WRITE, Row, serving

from understudy_devices.platforms.vm.machine import Result

pytestmark = group("served")

SECTORS = 2**20
READS = 40
SERVICE_MS = 50
PLACES = [(7919 * number) % (SECTORS // 8) for number in range(READS)]
PROFILE = f"[model]\nintercept_ms = {SERVICE_MS}\nfull_seek_ms = 0\n"
SCENARIO = f"""
wait_for '[ -b /dev/vda ]'
cat /sys/block/vda/size > /out/size
head -c 8192 /dev/urandom > /out/pattern
dd if=/out/pattern of=/dev/vda bs=4k seek=100 oflag=direct conv=fsync || fail 'no writing'
echo 3 > /proc/sys/vm/drop_caches
dd if=/dev/vda of=/out/found bs=4k skip=100 count=2 iflag=direct || fail 'no reading'
read -r before rest < /proc/uptime
for place in {" ".join(str(place) for place in PLACES)}; do
	dd if=/dev/vda of=/dev/null bs=4k skip=$place count=1 iflag=direct || fail "no $place"
done
read -r after rest < /proc/uptime
echo "$before $after" > /out/uptime
"""


@dataclass(frozen=True)
class Seen:
    """What the guest and the disk recorded."""

    guest: Result
    rows: list[Row]
    data: bytes


@once
def seen() -> Seen:
    with TemporaryDirectory(dir="/var/tmp") as folder:
        profile, data = Path(folder) / "slow.toml", Path(folder) / "disk.img"
        profile.write_text(PROFILE)
        words = ("--disk", str(profile), "--size", f"{SECTORS}s", "--data", str(data))
        with serving(Path(folder), *words) as served:
            drive = f"file=nbd:unix:{served.socket},format=raw,if=none,id=served"
            guest = boot(
                SCENARIO,
                {"virtio_pci": "", "virtio_blk": ""},
                clock="wall",
                devices=("-drive", drive, "-device", "virtio-blk-pci,drive=served"),
            )
        return Seen(guest, served.rows(), data.read_bytes()[409_600:417_792])


def test_the_guest_has_the_disk_and_its_data() -> None:
    guest = seen().guest
    assert int(text(guest, "size")) == SECTORS
    assert guest.out["found"] == guest.out["pattern"] == seen().data


def test_its_requests_are_timed() -> None:
    """Each read is timed, in order, and so are a write and a flush, which takes no time here."""
    reads = [row for row in seen().rows if row.op == READ][-READS:]
    assert [row.sector for row in reads] == [8 * place for place in PLACES]
    assert {row.op for row in seen().rows} == {READ, WRITE, OTHER}
    for row in seen().rows:
        assert row.service_ns == (0 if row.op == OTHER else SERVICE_MS * 10**6)


def test_the_disks_time_passes_in_the_guest() -> None:
    """The guest's clock has hundredths of a second; a busy host can only prolong the time."""
    before, after = (float(word) for word in text(seen().guest, "uptime").split())
    assert after - before >= READS * SERVICE_MS / 1000 - 0.05
