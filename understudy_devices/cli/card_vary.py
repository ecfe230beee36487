# SPDX-License-Identifier: MIT
"""`understudy card vary`: a new card of equal difficulty, from a seed."""

from pathlib import Path

import click

from understudy_devices.base.errors import UserError
from understudy_devices.cli.names import Names
from understudy_devices.course import card as course_card


@click.command(epilog="Example: understudy card vary zach1 --seed 7 --out zach1-7")
@click.argument("name", metavar="NAME", type=Names(lambda: course_card.ORIGINALS))
@click.option(
    "--seed",
    default=1,
    show_default=True,
    type=click.IntRange(1, course_card.SEED_MAX),
    help="Another seed gives another card.",
)
@click.option(
    "--out",
    metavar="FOLDER",
    required=True,
    type=click.Path(path_type=Path),
    help="A new folder for the card.",
)
def vary(name: str, seed: int, out: Path) -> None:
    """Draw a variant of a card of the project, as for a student of a course.

    Names, offsets, bits, codes and IDs differ, and a doorbell wants a key that is in the manual
    alone. So a driver for another variant does not drive this one, and is as hard to write.

    Writes the specification, the card's behaviour in C, its exercise, and in drivers/ the
    project's driver, changed for this card: the solution.
    """
    variant = course_card.of_seed(name, seed)
    contents = {**variant.files(), f"drivers/{name}_driver.c": variant.driver().encode()}
    try:
        out.mkdir(parents=True)
        for file, content in contents.items():
            (out / file).parent.mkdir(exist_ok=True)
            (out / file).write_bytes(content)
    except FileExistsError as error:
        raise UserError(f"{out}: exists; --out takes a new folder") from error
    except OSError as error:
        raise UserError(f"{error.filename}: {error.strerror}: name another --out") from error
    for file in contents:
        click.echo(f"wrote {out / file}")
