# SPDX-License-Identifier: MIT
"""[layout]: the core's values, from the profile itself or from a file next to it, and refused
layouts."""

from pathlib import Path

import pytest
from profile_texts import load_text

from understudy_devices.base.errors import UserError
from understudy_devices.device.timing import TURN, TrackLevel, Tracks, TrackZone

ZONES = """\
first_sector,track_sectors,slots,angle_turns,skew_turns,cylinder_tracks,cylinder_skew_turns
0,100,104,0.25,0.125,4,0.25
400000,75,80,0.5,0.2,8,0.3
"""
PLAIN = "first_sector,track_sectors\n0,100\n400000,75\n"
BANDS = """\
first_sector,track_sectors,slots,angle_turns,skew_turns,surface_tracks,surface_skew_turns,\
surface_spare_sectors,band_tracks,band_skew_turns,band_spare_sectors
0,100,104,0.25,0.125,4,0.25,3,8,0.5,5
400000,75,80,0.5,0.2,8,0.3,,16,0.75,
"""
SLIPS = "sector,slots\n1000,1\n2000,2\n3000,-1\n400000,7\n"
KNOWN = f"""
[seek]
ms = [0.5, 6.0]

[throughput]
mb_per_s = [8.5, 6.4]

[rotation]
period_ms = 6.25
phase = "known"

[layout]
switch_ms = 0.5
zones = \"\"\"
{ZONES}\"\"\"

[facts]
vendor = "mine"
model = "own"
capacity_sectors = 1_000_000
"""


def test_what_the_core_is_told(tmp_path: Path) -> None:
    """Angles are in 2^-64 rotations, rounded to the nearest."""
    disk = load_text(tmp_path, KNOWN)
    assert disk.knows_positions
    timing = disk.timing(1_000_000)
    assert timing.rotation_ns == 6_250_000
    assert not timing.random_phase
    assert timing.tracks == Tracks(
        velocity=2951479051794,  # 2^64 / 6,250,000 is ...793.5
        zones=(
            TrackZone(
                first=0,
                sectors=100,
                slot=177372539170284150,  # 2^64 / 104 is ...149.8
                angle=TURN // 4,
                skew=TURN // 8,
                cylinder=TrackLevel(4, 400, TURN // 4),
            ),
            TrackZone(
                first=400_000,
                sectors=75,
                slot=230584300921369395,  # 2^64 / 80 is ...395.2
                angle=TURN // 2,
                skew=3689348814741910323,
                cylinder=TrackLevel(8, 600, 5534023222112865485),
                before=4000,
            ),
        ),
    )


def test_surfaces_bands_and_spare_sectors(tmp_path: Path) -> None:
    """The last cylinder of a band ends with the band's spare sectors in place of its own."""
    text = KNOWN.replace(ZONES, BANDS).replace("6.0]", '6.0]\nover = "tracks"')
    first, second = load_text(tmp_path, text).timing(1_000_000).tracks.zones
    assert first.cylinder == TrackLevel(4, 397, TURN // 4)
    assert first.band == TrackLevel(8, 792, TURN // 2)
    assert second.band == TrackLevel(16, 1200, TURN // 4 * 3)
    assert (first.surfaces, second.surfaces) == (2, 2)
    assert second.before == -(-400_000 // 792) * 8 - 7  # 505 bands and a track of the next


def test_slips(tmp_path: Path) -> None:
    """A slip in the core is the total since its zone's start; a disk of another size has no
    slips."""
    disk = load_text(tmp_path, KNOWN.replace("switch_ms", f'slips = """\n{SLIPS}"""\nswitch_ms'))
    slips = ((1000, 1), (2000, 3), (3000, 2), (400_000, 7))
    assert disk.timing(1_000_000).tracks.slips == slips
    assert disk.timing(999_000).tracks.slips == slips
    assert disk.timing(900_000).tracks.slips == ()
    assert disk.layout
    again = disk.layout.model_validate(disk.layout.keys())
    assert again == disk.layout


def test_tables_in_files_beside_it(tmp_path: Path) -> None:
    """Tables in files are equal to tables in the profile, from any current folder."""
    inside = load_text(tmp_path, KNOWN.replace("switch_ms", f'slips = """\n{SLIPS}"""\nswitch_ms'))
    (tmp_path / "a.csv").write_text(ZONES)
    (tmp_path / "b.csv").write_text(SLIPS)
    named = KNOWN.replace(f'"""\n{ZONES}"""', '"a.csv"\nslips = "b.csv"')
    assert load_text(tmp_path, named) == inside


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "a.csv: No such file or directory; it belongs beside the profile"),
        ("", "a.csv: has no rows below its names"),
        (ZONES[:-1], "a.csv: line 3 has no end: is the table cut?"),
        (ZONES[:-9] + "\n", "a.csv: line 3: has 5 columns for 7"),
        (ZONES.replace("slots,", "slot,"), "a.csv: line 1, column 3: slot is not one of first"),
        (ZONES.replace("0.5", "x"), "a.csv: line 3, column angle_turns: x is not a number"),
        ("\xff", "a.csv: is not text"),
    ],
)
def test_a_file_that_is_wrong_is_one_line(
    tmp_path: Path, content: str | None, message: str
) -> None:
    """The message has the file, line and column."""
    if content is not None:
        (tmp_path / "a.csv").write_text(content, encoding="latin-1")
    named = KNOWN.replace(f'"""\n{ZONES}"""', '"a.csv"')
    with pytest.raises(UserError) as caught:
        load_text(tmp_path, named)
    assert str(caught.value).startswith(f"{tmp_path / 'mine.toml'}: layout.zones: {message}")
    assert "\n" not in str(caught.value)


def test_a_zone_begins_to_the_sector(tmp_path: Path) -> None:
    """The start is exact on the real disk, and scales with other sizes."""
    disk = load_text(tmp_path, KNOWN.replace("400000", "400123"))
    for capacity, first in ((1_000_000, 400_123), (100_000, 40_012), (3_000_000, 1_200_369)):
        assert disk.timing(capacity).tracks.zones[1].first == first


def test_angles_may_be_there_and_not_used(tmp_path: Path) -> None:
    """The angles go unused if the rotation's phase is random or the mean."""
    for phase in ("random", "mean"):
        disk = load_text(tmp_path, KNOWN.replace('"known"', f'"{phase}"'))
        assert not disk.knows_positions
        assert disk.timing(1_000_000).tracks.velocity == 0
        assert disk.timing(1_000_000).random_phase is (phase == "random")


CYLINDERS = "layout.zones: line 2: cylinder_tracks is missing"


def slips(rows: str) -> str:
    """Return a table of slips, followed by the next key."""
    return f'slips = """\nsector,slots\n{rows}"""\nswitch_ms'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.25,0.125", ",0.125", "layout.zones: line 2: angle_turns is missing"),
        ("0.5,0.2", "1.0,0.2", "layout.zones: line 3, column angle_turns: 1.0 is not from 0 up to"),
        ("0.5,0.2", "nan,0.2", "layout.zones: line 3, column angle_turns: nan is not from 0 up to"),
        (
            "0.5,0.2",
            "0.5,0.01",
            "layout.zones: line 3: a skew of 0.01 is less than the 5 spare slo",
        ),
        (",4,0.25", ",4,0.02", "layout.zones: line 2: a skew of 0.02 is less than the 4 spare slo"),
        (",8,0.3", ",0,0.3", "layout.zones: line 3, column cylinder_tracks: 0 is not from 1 to"),
        (",8,0.3", ",8,", "layout.zones: line 3: cylinder_skew_turns is missing"),
        (",8,0.3", ",,0.3", "layout.zones: line 3: cylinder_tracks is missing"),
        ("75,80", "75,74", "layout.zones: line 3: 74 slots are too few for a track of 75"),
        ("\n0,100", "\n1,100", "layout.zones: begins at 1, not at 0"),
        ("400000,", "99,", "layout.zones: line 3: 99 is less than a track of 100 after 0"),
        ("400000,75", ",75", "layout.zones: line 3: first_sector is missing"),
        ("400000,", "-5,", "layout.zones: line 3, column first_sector: -5 is not from 0 to"),
        ("400000,", "4e5,", "layout.zones: line 3, column first_sector: 4e5 is not a whole number"),
        ("track_sectors,", "slots,", "layout.zones: line 1, column 3: slots is not one of first"),
        (ZONES, ZONES.splitlines()[0] + "\n", "layout.zones: has no rows below its names"),
        (ZONES, BANDS.replace("surface", "cylinder").replace("4,0.25,3,8", ",,,8"), CYLINDERS),
        (ZONES, BANDS.replace("8,0.5,5", ",,"), "layout.zones: line 2: band_tracks is missing"),
        (
            ZONES,
            BANDS.replace(",8,0.5", ",6,0.5"),
            "layout.zones: line 2: a band of 6 tracks is no",
        ),
        (
            ZONES,
            BANDS.replace("3,8,", "100,8,"),
            "layout.zones: line 2: 100 spare sectors leave no",
        ),
        (ZONES, PLAIN, 'rotation.phase: "known" needs a layout with the angles of its zones'),
        (
            "switch_ms",
            'slips = "../b.csv"\nswitch_ms',
            "layout.slips: ../b.csv: must be a file beside the profile, without a folder",
        ),
        (
            "switch_ms",
            "slips = [1]\nswitch_ms",
            "layout.slips: is not a table; it must begin",
        ),
        ("switch_ms", slips("9,1\n9,1\n"), "layout.slips: line 3: sector 9 is not behind 9"),
        ("switch_ms", slips("9,\n"), "layout.slips: line 2: a slip needs a sector and slots"),
        ("switch_ms", slips("9,-2\n"), "layout.slips: line 2, column slots: -2 is not from -1 to"),
        ("switch_ms", slips("9,1\n400000,-1\n"), "layout.slips: absorbs more slots than were sli"),
        ("switch_ms", slips("1000000,1\n"), "layout.slips: 1000000 is behind the end"),
        (
            "capacity_sectors = 1_000_000",
            "capacity_sectors = 400_074",
            "layout.zones: 400000 is less than a track before the end, 400074",
        ),
        (
            '[facts]\nvendor = "mine"\nmodel = "own"\ncapacity_sectors = 1_000_000\n',
            "",
            "layout.zones: needs the disk's size: add facts.capacity_sectors",
        ),
        ("[layout]", "[tracks]", "tracks: is no longer a key: [layout] replaces it; prof"),
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
    """The message has the file, key, value and reason."""
    assert old in KNOWN
    with pytest.raises(UserError) as caught:
        load_text(tmp_path, KNOWN.replace(old, new, 1))
    assert str(caught.value).startswith(f"{tmp_path / 'mine.toml'}: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("key", "most"), [("zones", 1024), ("slips", 16384)])
def test_more_than_the_core_has_room_for(tmp_path: Path, key: str, most: int) -> None:
    names = "first_sector,track_sectors" if key == "zones" else "sector,slots"
    rows = "".join(f"{100 * i},1\n" for i in range(most + 1))
    (tmp_path / "long.csv").write_text(f"{names}\n{rows}")
    zones = f'"""\n{PLAIN}"""' if key == "slips" else '"long.csv"'
    keys = f"zones = {zones}\n" + ('slips = "long.csv"\n' if key == "slips" else "")
    head, _, tail = KNOWN.replace('"known"', '"mean"').partition("[layout]\n")
    text = f"{head}[layout]\n{keys}\n{tail[tail.index('[facts]') :]}"
    with pytest.raises(UserError, match=rf"layout.{key}: has {most + 1} rows, more than {most}"):
        load_text(tmp_path, text)


def test_a_disk_too_small_for_its_zones(tmp_path: Path) -> None:
    """A zone shorter than one of its tracks becomes part of the previous zone."""
    disk = load_text(tmp_path, KNOWN.replace("400000,", "100,"))
    assert len(disk.timing(1_000_000).tracks.zones) == 2
    assert [zone.first for zone in disk.timing(10_000).tracks.zones] == [0, 1]
    with pytest.raises(UserError, match="a track of 100 is longer than a disk of 90 sectors"):
        disk.timing(90)
