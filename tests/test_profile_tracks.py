# SPDX-License-Identifier: MIT
"""[tracks] with angles: what it says to the core, and what is refused in one line."""

from pathlib import Path

import pytest

from understudy.base.errors import UserError
from understudy.device import profile
from understudy.device.profile import DiskProfile
from understudy.device.timing import TURN, Platter, PlatterZone

KNOWN = """
[seek]
ms = [0.5, 6.0]

[throughput]
mb_per_s = [8.5, 6.4]

[rotation]
period_ms = 6.25
phase = "known"

[tracks]
at = [0, 0.4]
sectors = [100, 75]
switch_ms = 0.5
first = [0, 400_000]
slots = [104, 80]
angle = [0.25, 0.5]
skew = [0.125, 0.2]
cylinder = [4, 8]
cylinder_skew = [0.25, 0.3]

[facts]
vendor = "mine"
model = "own"
capacity_sectors = 1_000_000
"""
BANDS = "band = [8, 16]\nband_skew = [0.5, 0.75]\n"


def load_text(folder: Path, text: str) -> DiskProfile:
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return profile.load(str(file))


def test_what_the_core_is_told(tmp_path: Path) -> None:
    """Angles in 2^-64 turns, rounded to the nearest."""
    disk = load_text(tmp_path, KNOWN)
    assert disk.knows_positions
    timing = disk.timing(1_000_000)
    assert timing.rotation_ns == 6_250_000
    assert not timing.random_phase
    assert timing.tracks == ((0, 100), (400_000, 75))
    assert timing.platter == Platter(
        velocity=2951479051794,  # 2^64 / 6,250,000 is ...793.5
        zones=(
            PlatterZone(
                slot=177372539170284150,  # 2^64 / 104 is ...149.8
                angle=TURN // 4,
                skew=TURN // 8,
                cylinder=4,
                cylinder_skew=TURN // 4,
            ),
            PlatterZone(
                slot=230584300921369395,  # 2^64 / 80 is ...395.2
                angle=TURN // 2,
                skew=3689348814741910323,
                cylinder=8,
                cylinder_skew=5534023222112865485,
            ),
        ),
    )


def test_bands(tmp_path: Path) -> None:
    """After each of them another skew."""
    timing = load_text(tmp_path, KNOWN.replace("[facts]", BANDS + "[facts]")).timing(1_000_000)
    assert timing.platter
    assert [zone.band for zone in timing.platter.zones] == [8, 16]
    assert [zone.band_skew for zone in timing.platter.zones] == [TURN // 2, TURN // 4 * 3]


def test_a_zone_begins_to_the_sector(tmp_path: Path) -> None:
    """`first` says where on the real disk, whatever `at` was rounded to, and scales."""
    disk = load_text(tmp_path, KNOWN.replace("400_000", "400_123"))
    assert disk.timing(1_000_000).tracks[1] == (400_123, 75)
    assert disk.timing(100_000).tracks[1] == (40_012, 75)
    assert disk.timing(3_000_000).tracks[1] == (1_200_369, 75)


def test_angles_may_be_there_and_not_used(tmp_path: Path) -> None:
    """Latencies are drawn, or the mean, if the rotation says so."""
    for phase in ("random", "mean"):
        disk = load_text(tmp_path, KNOWN.replace('"known"', f'"{phase}"'))
        assert not disk.knows_positions
        assert disk.timing(1_000_000).platter is None
        assert disk.timing(1_000_000).random_phase is (phase == "random")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("angle = [0.25, 0.5]\n", "", "tracks.angle: is missing, and first is there: they go tog"),
        ("first = [0, 400_000]\n", "", "tracks.first: is missing, and slots is there: they go to"),
        ("angle = [0.25, 0.5]", "angle = [0.25]", "tracks.angle: has 1 values for 2 zones"),
        ("angle = [0.25, 0.5]", "angle = []", "tracks.angle: has 0 values for 2 zones"),
        ("[0.25, 0.5]", "[0.25, 1.0]", "tracks.angle.1: input should be less than 1, not 1.0"),
        ("[0.25, 0.5]", "[-0.1, 0.5]", "tracks.angle.0: input should be greater than or equal"),
        ("[0.25, 0.5]", "[nan, 0.5]", "tracks.angle.0: input should be a finite number, not nan"),
        ("[0.125, 0.2]", "[1.125, 0.2]", "tracks.skew.0: input should be less than 1, not 1.125"),
        (
            "[0.125, 0.2]",
            "[0.125, 0.01]",
            "tracks.skew: 0.01 of a turn is less than the 5 spare slots of 80, which count",
        ),
        (
            "[0.25, 0.3]",
            "[0.02, 0.3]",
            "tracks.cylinder_skew: 0.02 of a turn is less than the 4 spare slots of 104, which",
        ),
        ("[4, 8]", "[4, 0]", "tracks.cylinder.1: input should be greater than or equal to 1, not"),
        ("[104, 80]", "[104, 74]", "tracks.slots: 74 slots are too few for a track of 75"),
        ("[0, 400_000]", "[1, 400_000]", "tracks.first: begins at 1, not at 0"),
        ("[0, 400_000]", "[0, 99]", "tracks.first: 99 is less than a track of 100 after 0"),
        ("[0, 400_000]", "[0, -5]", "tracks.first.1: input should be greater than or equal to 0"),
        (
            "[0, 400_000]",
            "[0, 402_000]",
            "tracks.first: 402000 of 1000000 sectors is not at 0.4, as tracks.at says",
        ),
        (
            "capacity_sectors = 1_000_000",
            "capacity_sectors = 400_074",
            "tracks.first: 400000 is less than a track before the end, 400074",
        ),
        (
            '[facts]\nvendor = "mine"\nmodel = "own"\ncapacity_sectors = 1_000_000\n',
            "",
            "tracks.first: of a disk of what size? add facts.capacity_sectors",
        ),
        ("[facts]", "band = [8, 16]\n[facts]", "tracks.band_skew: is missing, and band is there"),
        (
            "[facts]",
            BANDS.replace("[8,", "[6,") + "[facts]",
            "tracks.band: 6 tracks are no multiple of a cylinder's 4",
        ),
        (
            "first = [0, 400_000]\nslots = [104, 80]\nangle = [0.25, 0.5]\nskew = [0.125, 0.2]\n"
            "cylinder = [4, 8]\ncylinder_skew = [0.25, 0.3]\n",
            "",
            'rotation.phase: "known" needs tracks with first, slots, angle, skew, cylinder, cyli',
        ),
        (
            "first = [0, 400_000]\nslots = [104, 80]\nangle = [0.25, 0.5]\nskew = [0.125, 0.2]\n"
            "cylinder = [4, 8]\ncylinder_skew = [0.25, 0.3]\n",
            BANDS,
            "tracks.band: no angles are known; add first, slots, angle, skew, cylinder, cylinder",
        ),
        (
            "[facts]",
            "cylinder_spare = [3, 80]\n[facts]",
            "tracks.cylinder_spare: 80 leave nothing of a track of 75",
        ),
        (
            "[facts]",
            "cylinder_spare = [3]\n[facts]",
            "tracks.cylinder_spare: has 1 values for 2 zones",
        ),
        (
            "[facts]",
            "cylinder_spare = [25, 0]\n[facts]",
            "tracks.cylinder_skew: 0.25 of a turn is less than the 29 spare slots of 104, which",
        ),
        (
            "first = [0, 400_000]\nslots = [104, 80]\nangle = [0.25, 0.5]\nskew = [0.125, 0.2]\n"
            "cylinder = [4, 8]\ncylinder_skew = [0.25, 0.3]\n",
            "cylinder_spare = [3, 5]\n",
            "tracks.cylinder_spare: no angles are known; add first, slots, angle, skew, cylinder",
        ),
        (
            "[facts]",
            "[scaling]\nreal_track_sectors = 100\ntrack_sectors = 100\n[facts]",
            "scaling: does not go with known positions: tracks have a real length",
        ),
        (
            "[throughput]\nmb_per_s = [8.5, 6.4]\n\n[rotation]\nperiod_ms = 6.25",
            "[rotation]\nperiod_ms = 1000.5",
            "rotation.period_ms: 1000.5 is not from 0.001 to 1000, which known positions need",
        ),
    ],
)
def test_what_contradicts_itself_is_one_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    """File, key, value, reason."""
    assert old in KNOWN
    with pytest.raises(UserError) as caught:
        load_text(tmp_path, KNOWN.replace(old, new, 1))
    assert str(caught.value).startswith(f"{tmp_path / 'mine.toml'}: {message}")
    assert "\n" not in str(caught.value)


def test_more_zones_than_the_core_has_room_for(tmp_path: Path) -> None:
    zones = 1025
    lines = {
        "at": [i / zones for i in range(zones)],
        "sectors": [100] * zones,
        "slots": [104] * zones,
        "first": [round(i * 10**6 / zones) for i in range(zones)],
        "angle": [0.0] * zones,
        "skew": [0.125] * zones,
        "cylinder": [4] * zones,
        "cylinder_skew": [0.25] * zones,
    }
    section = "".join(f"{key} = {values}\n" for key, values in lines.items())
    head, _, tail = KNOWN.partition("[tracks]\n")
    text = f"{head}[tracks]\n{section}\n{tail[tail.index('[facts]') :]}"
    with pytest.raises(UserError, match=r"tracks\.\w+: has more than 1024 values"):
        load_text(tmp_path, text)


def test_a_disk_too_small_for_its_zones(tmp_path: Path) -> None:
    """Two zones on one sector would be one."""
    text = KNOWN.replace("at = [0, 0.4]", "at = [0, 1e-4]").replace("400_000", "100")
    disk = load_text(tmp_path, text)
    assert len(disk.timing(1_000_000).tracks) == 2
    with pytest.raises(UserError, match="two zones begin at one sector on a disk of 4000"):
        disk.timing(4000)
    with pytest.raises(UserError, match="a track of 100 is longer than its zone of 50 sectors"):
        disk.timing(500_000)
