# SPDX-License-Identifier: MIT
"""The throttle's curves, written by hand: longer than a page, in pieces, while requests run.

A curve is read back as it was written, in pieces of any size. A curve that is too long, unfinished,
or from two writers at once is refused and changes nothing. Transfers of a megabyte take the core's
time. When a curve is replaced under load on two CPUs, each request uses the old curve or the new
one, never a mixture.
"""

import numpy as np
import pytest
from guests import MIB, attempts, boot, group, once, text

from understudy_devices.device.timing import Timing
from understudy_devices.measure import records
from understudy_devices.native.draw import Draw
from understudy_devices.native.drive import Drive
from understudy_devices.platforms.vm.machine import Result

SECTORS = 64 * MIB // 512
SAMPLES = 1024
MODULES = {"iprobe": "", "vpt": "", "vdisk": f"size={64 * MIB}"}


def noisy(seed: int, least: int, span: int) -> list[tuple[int, int]]:
    """Return a curve with the largest number of samples, and with values of many digits."""
    draw = Draw(seed)
    places = [i * SECTORS // (SAMPLES - 1) for i in range(SAMPLES)]
    return [(place, least + draw.below(span)) for place in places]


def line(curve: list[tuple[int, int]]) -> str:
    return " ".join(f"{at}:{value}" for at, value in curve) + "\n"


SEEK = noisy(1, 2_000_000, 8_000_000)
TRANSFER = noisy(2, 5_000_000, 40_000_000)
PIECES = (1, 7, 512, 1000, 4095, 4096, 4097, 100_000)

BY_HAND = f"""
throttle /dev/vdisk
cat /seek > $vpt/seek_curve || fail "cat: seek_curve"
cat /transfer > $vpt/transfer_curve || fail "cat: transfer_curve"
cmp $vpt/seek_curve /seek && cmp $vpt/transfer_curve /transfer || fail "not what was written"
for piece in {" ".join(map(str, PIECES))}; do
	put "0:0 {SECTORS}:5" $vpt/seek_curve
	dd if=/seek of=$vpt/seek_curve bs=$piece 2> /dev/null || fail "dd bs=$piece"
	cmp $vpt/seek_curve /seek && echo $piece >> /out/pieces
done
echo "$(cat /transfer)" > $vpt/transfer_curve || fail "echo: transfer_curve"

put 1500000 $vpt/intercept_ns
put 7000001 $vpt/rotation_ns
put 100 $vpt/record
dd if=/dev/vdisk of=/dev/null bs=1M count=8 iflag=direct 2> /dev/null
dd if=/dev/vdisk of=/dev/null bs=1M skip=40 count=8 iflag=direct 2> /dev/null
cat $vpt/records > /out/records

# Refusals, each with a line in /out/attempts.
tried() {{ # NAME COMMAND
	said=$({{ eval "$2"; }} 2>&1 | grep -v records)
	[ "$said" ] || said=ok
	echo "$1: ${{said##*: }}" >> /out/attempts
}}
cat /seek > $vpt/seek_curve
tried "too many" "dd if=/too-many of=$vpt/seek_curve"
tried "too long" "dd if=/too-long of=$vpt/seek_curve"
tried "descending" "dd if=/descending of=$vpt/seek_curve"
tried "not from its beginning" "dd if=/seek of=$vpt/seek_curve bs=4096 skip=1 seek=1 conv=notrunc"
tried "two writers" "{{
	dd bs=4096 count=1 2> /dev/null
	head -c 4096 /transfer > $vpt/transfer_curve
	dd bs=4096
}} < /seek > $vpt/seek_curve"
cmp $vpt/seek_curve /seek && cmp $vpt/transfer_curve /transfer && echo same > /out/after
tried "record" "echo 5 > $vpt/record"
printf '0:0 {SECTORS}:5' > $vpt/seek_curve || fail "a piece"
tried "record, no newline" "echo 5 > $vpt/record"
cmp $vpt/seek_curve /seek && echo same >> /out/after
put "" $vpt/transfer_curve
tried "record, ended" "echo 5 > $vpt/record"
[ -z "$(cat $vpt/transfer_curve)" ] && echo none >> /out/after
release
throttle /dev/vdisk
for file in intercept_ns rotation_ns seek_curve transfer_curve; do
	echo "$file $(cat $vpt/$file)" >> /out/fresh
done
"""


@once
def by_hand() -> Result:
    """Boot the VM in which curves are written in all ways."""
    files = {
        "seek": line(SEEK),
        "transfer": line(TRANSFER),
        "too-many": line([*SEEK[:-1], (SECTORS - 1, 5), SEEK[-1]]),
        "too-long": " " * 2**19 + line(SEEK),
        "descending": line(SEEK[::-1]),
    }
    return boot(BY_HAND, MODULES, files=files)


@group("curves")
def test_any_pieces_make_the_curve() -> None:
    """In pieces of a byte, a page, or more than a page, the kernel shows the same text."""
    assert [int(word) for word in text(by_hand(), "pieces").split()] == list(PIECES)


@group("curves")
def test_long_transfers_are_the_cores() -> None:
    """Requests of a megabyte, or the block layer's parts of them, are exact to the nanosecond."""
    rows = records.from_bytes(by_hand().out["records"])
    records.check(rows)
    assert rows["sectors"].sum() == 16 * 2048
    assert rows["request_id"].n_unique() == rows.height
    drive = Drive(Timing(SEEK[-1][0], 1_500_000, tuple(SEEK), tuple(TRANSFER), 7_000_001))
    service_ns, _ = drive.serve(np.zeros(rows.height), rows["sector"], rows["sectors"])
    assert rows["model_service_ns"].to_list() == service_ns.tolist()


@group("curves")
@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("too many", "Argument list too long"),
        ("too long", "Argument list too long"),
        ("descending", "Invalid argument"),
        ("not from its beginning", "Invalid argument"),
        ("two writers", "Invalid argument"),
        ("record", "ok"),
        ("record, no newline", "Invalid argument"),
        ("record, ended", "ok"),
    ],
)
def test_refuses(what: str, why: str) -> None:
    assert attempts_by_name(by_hand())[what] == why


def attempts_by_name(result: Result) -> dict[str, str]:
    return {key: reason.split("\n")[0] for key, reason in attempts(result).items()}


@group("curves")
def test_what_is_refused_changes_nothing() -> None:
    """The next disk begins without curves."""
    assert text(by_hand(), "after").split() == ["same", "same", "none"]
    assert "a curve was written without the newline that ends it" in text(by_hand(), "dmesg")
    fresh = ["intercept_ns 0", "rotation_ns 0", f"seek_curve 0:0 {SECTORS}:0", "transfer_curve "]
    assert by_hand().out["fresh"].decode().splitlines() == fresh


CHANGES = 60
UNDER_LOAD = f"""
throttle /dev/vdisk
cat /near > $vpt/seek_curve
random --device /dev/vdisk --processes 8 --log /out/reads.bin --log-max 500000 \\
	< /dev/null > /tmp/said 2>&1 &
wait_for "grep -qs ready /tmp/said"
put 100000 $vpt/record
change=0
while [ $change -lt {CHANGES} ]; do
	cat /far > $vpt/seek_curve || fail "far"
	cat /near > $vpt/seek_curve || fail "near"
	change=$((change + 1))
done
kill -TERM $!
wait $! || fail "random: $(cat /tmp/said)"
cat $vpt/record > /out/progress
cat $vpt/records > /out/records
"""


@group("curves-under-load")
def test_a_curve_is_replaced_at_once() -> None:
    """Each request has the time of one curve or the other.

    One curve's samples are all near the beginning, the other's near the end. In a mixture nearly
    every value would be neither.
    """
    near = [(i, 500_000) for i in range(SAMPLES - 1)] + [(SECTORS, 500_000)]
    far = [(0, 2_000_000), *((SECTORS - i, 2_000_000) for i in reversed(range(SAMPLES - 1)))]
    files = {"near": line(near), "far": line(far)}
    result = boot(UNDER_LOAD, MODULES, files=files, clock="wall", cpus=2, memory_mib=1024)
    rows = records.from_bytes(result.out["records"])
    print(rows["model_service_ns"].value_counts())
    assert rows.height > 100
    assert set(rows["model_service_ns"]) == {500_000, 2_000_000}
