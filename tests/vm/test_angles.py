# SPDX-License-Identifier: MIT
"""The angles of the throttle's zones by hand: what is read back is what was written, whatever the
pieces; what is no such text or contradicts the tracks or the rotation is refused, from whichever
side, and changes nothing.  Transfers of a megabyte on a disk without a buffer take what the core
says, from the first instant of the clock on."""

import numpy as np
import pytest
from guests import MIB, attempts, boot, group, once, text

from understudy.device.timing import Platter, PlatterZone, Timing
from understudy.measure import records
from understudy.native.drive import PLATTER_ZONES_MAX, Drive
from understudy.platforms.vm.machine import Result

SECTORS = 64 * MIB // 512
SEEK = [(0, 400_000), (SECTORS, 9_000_000)]
ROTATION_NS = 5_973_121
ZONES = PLATTER_ZONES_MAX
TRACK = 100
MODULES = {"iprobe": "", "vpt": "", "vdisk": f"size={64 * MIB}"}

TRACKS = [(i * SECTORS // ZONES, TRACK + i % 7) for i in range(ZONES)]
PLATTER = Platter(
    velocity=2**64 // ROTATION_NS,
    zones=tuple(
        PlatterZone(
            slot=2**64 // (sectors + 3),
            angle=2**64 - 1 - first * 10**13,
            skew=2**61 + first * 10**9,
            cylinder=3,
            cylinder_skew=2**62 - first,
            band=3 * (first % 2),
            band_skew=2**63 + first,
            spare=first % 5,
        )
        for first, sectors in TRACKS
    ),
)


def zone(given: PlatterZone) -> str:
    """As kernel/vpt/platter_text.h has it."""
    return (
        f"{given.slot}:{given.angle}:{given.skew}:{given.cylinder}:{given.cylinder_skew}"
        f":{given.band}:{given.band_skew}:{given.spare}:{given.place}:{given.step}:{given.surfaces}"
    )


ANGLES = " ".join([str(PLATTER.velocity), *map(zone, PLATTER.zones)])
FIRST = zone(PLATTER.zones[0])
WRONG = {
    "too many": f"{ANGLES} {FIRST}",
    "too few": ANGLES.rpartition(" ")[0],
    "no zones": str(PLATTER.velocity),
    "no velocity": f"0 {FIRST}",
    "no number": ANGLES.replace(":3:", ":three:", 1),
    "a number is missing": ANGLES.rpartition(":")[0],
    "a number too many": f"{ANGLES}:1",
    "another velocity": ANGLES.replace(str(PLATTER.velocity), str(PLATTER.velocity * 2), 1),
    "too long a slot": ANGLES.replace(str(PLATTER.zones[0].slot), str(2**64 // 99), 1),
    "no cylinder": ANGLES.replace(":3:", ":0:", 1),
}
PIECES = (7, 1000, 4096, 100_000)

BY_HAND = f"""
tried() {{ # NAME COMMAND
	said=$({{ eval "$2"; }} 2>&1 | grep -v records)
	[ "$said" ] || said=ok
	echo "$1: ${{said##*: }}" >> /out/attempts
}}
same() {{
	cmp $vpt/zone_angles /angles && echo "$1" >> /out/same
}}

throttle /dev/vdisk
cat /seek > $vpt/seek_curve
tried "no tracks" "cat /angles > $vpt/zone_angles"
cat /tracks > $vpt/tracks
tried "no rotation" "cat /angles > $vpt/zone_angles"
put {ROTATION_NS} $vpt/rotation_ns
put 1 $vpt/rotation_random
tried "drawn" "cat /angles > $vpt/zone_angles"
put 0 $vpt/rotation_random
for piece in {" ".join(map(str, PIECES))}; do
	put "" $vpt/zone_angles
	dd if=/angles of=$vpt/zone_angles bs=$piece 2> /dev/null || fail "dd bs=$piece"
	same $piece
done
for file in /wrong/*; do
	tried "$(echo "${{file##*/}}" | tr _ ' ')" "dd if=$file of=$vpt/zone_angles"
done
tried "another rotation" "echo $(({ROTATION_NS} + 2)) > $vpt/rotation_ns"
tried "drawn then" "echo 1 > $vpt/rotation_random"
tried "other tracks" "echo 0:50 > $vpt/tracks"
same refused
put 100 $vpt/record
dd if=/dev/vdisk of=/dev/null bs=1M count=8 iflag=direct 2> /dev/null
dd if=/dev/vdisk of=/dev/null bs=1M skip=40 count=8 iflag=direct 2> /dev/null
cat $vpt/records > /out/records
put "" $vpt/zone_angles
tried "other tracks then" "echo 0:50 > $vpt/tracks"
release
throttle /dev/vdisk
cat $vpt/zone_angles > /out/fresh
"""


@once
def by_hand() -> Result:
    """The VM in which angles are written in all ways."""
    files = {
        "seek": " ".join(f"{at}:{ns}" for at, ns in SEEK) + "\n",
        "tracks": " ".join(f"{first}:{sectors}" for first, sectors in TRACKS) + "\n",
        "angles": ANGLES + "\n",
        **{f"wrong/{name.replace(' ', '_')}": line + "\n" for name, line in WRONG.items()},
    }
    return boot(BY_HAND, MODULES, files=files)


@group("angles")
def test_any_pieces_make_them() -> None:
    """As many zones as there may be; what is refused changes nothing, the next disk has none."""
    assert text(by_hand(), "same").split() == [*map(str, PIECES), "refused"]
    assert by_hand().out["fresh"] == b"\n"


@group("angles")
@pytest.mark.parametrize(
    ("what", "why"),
    [
        *((name, "Invalid argument") for name in WRONG if name != "too many"),
        ("too many", "Argument list too long"),
        ("no tracks", "Invalid argument"),
        ("no rotation", "Invalid argument"),
        ("drawn", "Invalid argument"),
        ("drawn then", "Invalid argument"),
        ("another rotation", "Invalid argument"),
        ("other tracks", "Invalid argument"),
        ("other tracks then", "ok"),
    ],
)
def test_refuses(what: str, why: str) -> None:
    """Each for its reason."""
    found = {key: reason.split("\n")[0] for key, reason in attempts(by_hand()).items()}
    assert found[what] == why


@group("angles")
def test_long_transfers_are_the_cores() -> None:
    """Over many tracks and zones, to the nanosecond."""
    rows = records.from_bytes(by_hand().out["records"], 0)
    records.check(rows)
    assert rows["sectors"].sum() == 16 * 2048
    assert rows["request_id"].n_unique() == rows.height
    timing = Timing(
        *(SECTORS, 0, tuple(SEEK)), rotation_ns=ROTATION_NS, tracks=tuple(TRACKS), platter=PLATTER
    )
    drive = Drive(timing)
    due_before = rows["due_ns"].shift(1, fill_value=0).to_numpy()
    pauses_ns = np.maximum(rows["dispatch_ns"].to_numpy() - due_before, 0)
    service_ns, _ = drive.serve(np.zeros(rows.height), rows["sector"], rows["sectors"], pauses_ns)
    assert rows["model_service_ns"].to_list() == service_ns.tolist()
