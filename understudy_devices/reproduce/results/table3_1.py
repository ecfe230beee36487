# SPDX-License-Identifier: MIT
"""A million smooth-shaded triangles by DMA (Jones 2010, Table 3.1)."""

from understudy_devices.papers.drawing import TABLE_3_1, TRIANGLES
from understudy_devices.papers.printed import JONES
from understudy_devices.platforms.vm.drawing import DrawingTimes, times
from understudy_devices.reproduce import Asked, Reproduced
from understudy_devices.show.grid import Grid

PRINTED = ((JONES, "Table 3.1"),)
SECONDS = {"vm": 30}  # with IN_ALL
IN_ALL = {"triangles": 100_000}
TAKES = ("triangles", "seed")
DIFFERS = """
The last three columns are from the dissertation: a real Permedia 2v and its virtual stand-in, whose
daemon drew under X, on a 2.8 GHz Pentium D. Our columns time one rasteriser in the virtual clock of
one VM: called directly, and behind card, driver and daemon. So the two slowdowns have different
baselines. At size 80 the dissertation prints a slowdown of 13.93; its seconds give 19.67.
"""
COLUMNS = ("direct s", "card s", "slowdown", "a second", "real s", "virtual s", "slowdown")


def run(asked: Asked) -> Reproduced:
    """Draw the triangles of each size, directly and through the card."""
    triangles = asked.parameters.get("triangles") or TRIANGLES
    seed = asked.parameters.get("seed", 1)
    phases = 2 * len(TABLE_3_1)
    heard: list[str] = []

    def hear(line: str) -> None:
        heard.append(line)
        asked.report(line, min(sum("size " in one for one in heard) / (phases + 1), 1))

    timings = times(TABLE_3_1, triangles, seed, hear)
    rows = [(str(size), _row(size, ours, triangles)) for size, ours in timings.items()]
    title = f"seconds for {TRIANGLES:,} smooth-shaded triangles, by size in pixels, seed {seed}"
    figures = {
        "triangles": triangles,
        "seed": seed,
        "sizes": {
            str(size): {
                "direct_seconds": ours.direct,
                "card_seconds": ours.card,
                "slowdown": ours.slowdown,
                "paper_real_seconds": TABLE_3_1[size].real,
                "paper_virtual_seconds": TABLE_3_1[size].virtual,
                "paper_slowdown": TABLE_3_1[size].slowdown,
            }
            for size, ours in timings.items()
        },
    }
    drawn = f"{triangles:,} triangles were drawn; their time is proportional to their number."
    said = [] if triangles == TRIANGLES else [drawn]
    return Reproduced([Grid(COLUMNS, [rows], title)], figures, sentences=said)


def _row(size: int, ours: DrawingTimes, triangles: int) -> tuple[str, ...]:
    paper = TABLE_3_1[size]
    return (
        f"{ours.direct * TRIANGLES / triangles:.2f}",
        f"{ours.card * TRIANGLES / triangles:.2f}",
        f"{ours.slowdown:.2f}",
        f"{triangles / ours.card:,.0f}",
        f"{paper.real:.2f}",
        f"{paper.virtual:.1f}",
        f"{paper.slowdown:.2f}",
    )
