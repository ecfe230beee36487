# SPDX-License-Identifier: MIT
"""The throttle's layout, written by hand: it is read back as written, in pieces of any size.

Text that is no layout, or that contradicts the capacity or the rotation, is refused and changes
nothing, whichever file is written last. Transfers of a megabyte on a disk without a buffer take the
core's time. They start at the clock's first instant.
"""

import numpy as np
import pytest
from guests import MIB, attempts, boot, group, once, text

from understudy_devices.device.timing import Timing, TrackLevel, Tracks, TrackZone, flat
from understudy_devices.measure import records
from understudy_devices.native.drive import TRACKS_SLIPS_MAX, TRACKS_ZONES_MAX, Drive
from understudy_devices.platforms.vm.machine import Result

SECTORS = 64 * MIB // 512
SEEK = [(0, 400_000), (SECTORS, 9_000_000)]
ROTATION_NS = 5_973_121
TRACK = 100
MODULES = {"iprobe": "", "vpt": "", "vdisk": f"size={64 * MIB}"}


def zone(first: int, sectors: int) -> TrackZone:
    """Return a zone with tracks of this length, and with arbitrary levels and spare sectors."""
    held = 3 * sectors - first % 5
    return TrackZone(
        first=first,
        sectors=sectors,
        slot=2**64 // (sectors + 3),
        angle=2**64 - 1 - first * 10**13,
        skew=2**61 + first * 10**9,
        cylinder=TrackLevel(3, held, 2**62 - first),
        band=TrackLevel(6, 2 * held, 2**63 + first) if first // 128 % 2 else TrackLevel(),
        before=first // TRACK,
        surfaces=first // 128 % 2 * 2,
    )


TRACKS = Tracks(
    zones=tuple(
        zone(i * SECTORS // TRACKS_ZONES_MAX, TRACK + i % 7) for i in range(TRACKS_ZONES_MAX)
    ),
    slips=tuple((i * SECTORS // TRACKS_SLIPS_MAX + 1, 1 + i % 16) for i in range(TRACKS_SLIPS_MAX)),
    velocity=2**64 // ROTATION_NS,
    step=3 << 16,
)


def row(numbers: list[int]) -> str:
    """Format a row as kernel/vpt/sysfs_curves.c does, without the zeros at its end."""
    while len(numbers) > 2 and not numbers[-1]:
        numbers = numbers[:-1]
    return ":".join(map(str, numbers))


ZONES = " ".join(row(flat(each)) for each in TRACKS.zones)
SLIPS = " ".join(f"{sector}:{slipped}" for sector, slipped in TRACKS.slips)
FIRST = row(flat(TRACKS.zones[0]))
WRONG = {
    "tracks": {
        "too many": f"{ZONES} {SECTORS - TRACK}:{TRACK}",
        "no number": ZONES.replace(":3:", ":three:", 1),
        "one number": ZONES.rpartition(" ")[0] + " 5",
        "a number too many": ZONES.replace(" ", f"{':0' * 13} ", 1),
        "too long a slot": ZONES.replace(str(TRACKS.zones[0].slot), str(2**64 // 99), 1),
        "no cylinder": ZONES.replace(":3:", ":0:"),
        "not from 0": ZONES.partition(" ")[2],
        "slips without zones": "",
    },
    "tracks_slips": {
        "too many slips": f"{SLIPS} {SECTORS - 1}:9",
        "twice": f"{SLIPS.rpartition(' ')[0]} {SLIPS.split()[-2]}",
        "behind the end": f"{SECTORS}:1",
        "back": "5:9 6:1",
    },
}
PIECES = (7, 1000, 4096, 100_000)

BY_HAND = f"""
tried() {{ # NAME COMMAND
	said=$({{ eval "$2"; }} 2>&1 | grep -v records)
	[ "$said" ] || said=ok
	echo "$1: ${{said##*: }}" >> /out/attempts
}}
same() {{
	cmp $vpt/tracks /tracks && cmp $vpt/tracks_slips /slips && echo "$1" >> /out/same
}}

throttle /dev/vdisk
cat /seek > $vpt/seek_curve
tried "no zones" "cat /slips > $vpt/tracks_slips"
tried "velocity of nothing" "echo {TRACKS.velocity} > $vpt/tracks_velocity"
for piece in {" ".join(map(str, PIECES))}; do
	put "" $vpt/tracks_slips
	put "" $vpt/tracks
	dd if=/tracks of=$vpt/tracks bs=$piece 2> /dev/null || fail "dd bs=$piece"
	dd if=/slips of=$vpt/tracks_slips bs=$piece 2> /dev/null || fail "dd bs=$piece"
	same $piece
done
tried "no rotation" "echo {TRACKS.velocity} > $vpt/tracks_velocity"
put {ROTATION_NS} $vpt/rotation_ns
put 1 $vpt/rotation_random
tried "drawn" "echo {TRACKS.velocity} > $vpt/tracks_velocity"
put 0 $vpt/rotation_random
put {TRACKS.velocity} $vpt/tracks_velocity
put {TRACKS.step} $vpt/tracks_step
for file in /wrong/*/*; do
	of=${{file#/wrong/}}
	tried "$(echo "${{file##*/}}" | tr _ ' ')" "dd if=$file of=$vpt/${{of%/*}}"
done
tried "another velocity" "echo $(({TRACKS.velocity} * 2)) > $vpt/tracks_velocity"
tried "another rotation" "echo $(({ROTATION_NS} + 2)) > $vpt/rotation_ns"
tried "drawn then" "echo 1 > $vpt/rotation_random"
tried "other zones" "echo 0:50 > $vpt/tracks"
same refused
put 100 $vpt/record
dd if=/dev/vdisk of=/dev/null bs=1M count=8 iflag=direct 2> /dev/null
dd if=/dev/vdisk of=/dev/null bs=1M skip=40 count=8 iflag=direct 2> /dev/null
cat $vpt/records > /out/records
put 0 $vpt/tracks_velocity
put "" $vpt/tracks_slips
tried "other zones then" "echo 0:50 > $vpt/tracks"
cat $vpt/tracks > /out/short
release
throttle /dev/vdisk
cat $vpt/tracks $vpt/tracks_slips $vpt/tracks_velocity > /out/fresh
"""


@once
def by_hand() -> Result:
    """Boot the VM in which angles are written in all ways."""
    files = {
        "seek": " ".join(f"{at}:{ns}" for at, ns in SEEK) + "\n",
        "tracks": ZONES + "\n",
        "slips": SLIPS + "\n",
        **{
            f"wrong/{file}/{name.replace(' ', '_')}": line + "\n"
            for file, lines in WRONG.items()
            for name, line in lines.items()
        },
    }
    return boot(BY_HAND, MODULES, files=files)


@group("angles")
def test_any_pieces_make_them() -> None:
    """The largest layout can be written. Refused text changes nothing, and the next disk has no
    layout.
    """
    assert text(by_hand(), "same").split() == [*map(str, PIECES), "refused"]
    assert by_hand().out["fresh"] == b"\n\n0\n"
    assert by_hand().out["short"] == b"0:50\n"


def why_not(name: str) -> str:
    """Return the reason as the shell prints it."""
    return "Argument list too long" if name.startswith("too many") else "Invalid argument"


@group("angles")
@pytest.mark.parametrize(
    ("what", "why"),
    [
        *((name, why_not(name)) for lines in WRONG.values() for name in lines),
        ("no zones", "Invalid argument"),
        ("velocity of nothing", "Invalid argument"),
        ("no rotation", "Invalid argument"),
        ("drawn", "Invalid argument"),
        ("drawn then", "Invalid argument"),
        ("another velocity", "Invalid argument"),
        ("another rotation", "Invalid argument"),
        ("other zones", "Invalid argument"),
        ("other zones then", "ok"),
    ],
)
def test_refuses(what: str, why: str) -> None:
    reasons = {key: reason.split("\n")[0] for key, reason in attempts(by_hand()).items()}
    assert reasons[what] == why


@group("angles")
def test_long_transfers_are_the_cores() -> None:
    """The transfers cross many tracks and zones, and are exact to the nanosecond."""
    rows = records.from_bytes(by_hand().out["records"], 0)
    records.check(rows)
    assert rows["sectors"].sum() == 16 * 2048
    assert rows["request_id"].n_unique() == rows.height
    timing = Timing(SECTORS, 0, tuple(SEEK), rotation_ns=ROTATION_NS, tracks=TRACKS)
    drive = Drive(timing)
    due_before = rows["due_ns"].shift(1, fill_value=0).to_numpy()
    pauses_ns = np.maximum(rows["dispatch_ns"].to_numpy() - due_before, 0)
    service_ns, _ = drive.serve(np.zeros(rows.height), rows["sector"], rows["sectors"], pauses_ns)
    assert rows["model_service_ns"].to_list() == service_ns.tolist()
