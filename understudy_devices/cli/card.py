# SPDX-License-Identifier: MIT
"""`understudy card`: list virtual PCI cards, check a specification and show what it contains
(docs/cards.md)."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console

from understudy_devices.base.errors import UserError
from understudy_devices.base.plain import plain
from understudy_devices.cards import output_files, specification
from understudy_devices.cards.driver import driver, makefile
from understudy_devices.cards.header import header
from understudy_devices.cards.model import Buffer, Card
from understudy_devices.cards.rdl_export import rdl
from understudy_devices.cards.selftest import selftest
from understudy_devices.cards.wrong import WrongCard
from understudy_devices.cards.yaml_text import yaml_text
from understudy_devices.cli.card_demo import demo
from understudy_devices.cli.card_test import test
from understudy_devices.cli.card_vary import vary
from understudy_devices.cli.main import EXIT_WRONG
from understudy_devices.cli.names import Names
from understudy_devices.show.card.programmer import programmers_manual
from understudy_devices.show.card.reference import reference_manual
from understudy_devices.show.grid import Grid

WORDS = ("kind", "access")


@click.group()
def command() -> None:
    """Virtual PCI cards, each made from one specification.

    \b
    Example:
      understudy card list
      understudy card check mine.yaml
      understudy card show zach1
      understudy card generate zach1 --out build/zach1
      understudy card import mine.rdl > mine.yaml
      understudy card vary zach1 --seed 7 --out zach1-7
      understudy card demo zach1
      understudy card test zach1 --driver my_driver.c
    """


command.add_command(demo)
command.add_command(test)
command.add_command(vary)


@command.command("list", epilog="Example: understudy card list --json")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array instead of lines.")
def list_cards(as_json: bool) -> None:
    """List the cards that come with the project."""
    cards = [specification.load(name) for name in specification.catalogue()]
    if as_json:
        click.echo(json.dumps([{"name": card.name, "title": card.title} for card in cards]))
        return
    for card in cards:
        click.echo(plain(f"{card.name:12}{card.title}: {len(card.all_registers)} registers"))


@command.command(epilog="Example: understudy card check mine.yaml")
@click.argument("name", metavar="NAME|FILE.yaml", type=Names(specification.catalogue))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object: file, mistakes.")
def check(name: str, as_json: bool) -> int:
    """Check a specification and print each mistake as a line FILE:LINE: REASON.

    Exit code 2 if there are mistakes.
    """
    file, raw = specification.read(name)
    try:
        card = specification.parse(file, raw)
    except WrongCard as wrong:
        _tell(wrong, as_json)
        return EXIT_WRONG
    if as_json:
        click.echo(json.dumps({"file": file, "mistakes": []}))
    else:
        click.echo(f"{file}: a card with {len(card.all_registers)} registers, no mistakes")
    return 0


@command.command(epilog="Example: understudy card show zach1")
@click.argument("name", metavar="NAME|FILE.yaml", type=Names(specification.catalogue))
@click.option("--json", "as_json", is_flag=True, help="Print the whole card as JSON.")
def show(name: str, as_json: bool) -> None:
    """Show a card's BARs, registers, interrupts and DMA."""
    card = specification.load(name)
    if as_json:
        click.echo(json.dumps(card.model_dump(mode="json", exclude_none=True), indent=2))
        return
    click.echo(plain(f"{card.name}: {card.title}"))
    for label, text in _lines(card):
        click.echo(plain(f"  {label:12}{text}"))
    columns = ("BAR", "offset", "width", "reset", *WORDS)
    Grid(columns, [list(_registers(card))], words=WORDS).show(Console())


@command.command(epilog="Example: understudy card generate zach1 --out build/zach1")
@click.argument("name", metavar="NAME|FILE.yaml", type=Names(specification.catalogue))
@click.option(
    "--out",
    metavar="FOLDER",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder for the files; created if missing.",
)
def generate(name: str, out: Path) -> None:
    """Write the files that a driver's author needs for a card.

    NAME_registers.h is a C header, NAME.rdl the card in SystemRDL. NAME_driver.c is a Linux driver
    to start from, NAME_selftest.c a kernel module that tests a card; make builds both. reference
    and programmer are the manuals, .html and .pdf.

    The same card always results in the same bytes.  A file that you have changed is never
    overwritten: driver and Makefile are kept, and any other changed file is reported.
    """
    card = specification.load(name)
    contents, begun = _files(card)
    written = output_files.write(out, card.name, contents, begun)
    for file in (out / name for name in contents):
        click.echo(f"wrote {file}" if file in written else f"kept {file}, which you have changed")


def _files(card: Card) -> tuple[dict[str, bytes], list[str]]:
    """Return all generated files by name, and the names of the files that the user will edit."""
    from understudy_devices.show.card.pdf import pdf  # it imports Matplotlib for its fonts: 0.1 s

    begun = {f"{card.name}_driver.c": driver(card), "Makefile": makefile(card)}
    manuals = {"reference": reference_manual(card), "programmer": programmers_manual(card)}
    texts = {
        f"{card.name}_registers.h": header(card),
        f"{card.name}.rdl": rdl(card),
        f"{card.name}_selftest.c": selftest(card),
        **{f"{name}.html": page for name, page in manuals.items()},
        **begun,
    }
    contents = {name: text.encode() for name, text in texts.items()}
    contents |= {f"{name}.pdf": pdf(page) for name, page in manuals.items()}
    return contents, list(begun)


@command.command("import", epilog="Example: understudy card import mine.rdl > mine.yaml")
@click.argument("file", metavar="FILE.rdl", type=click.Path(path_type=Path))
@click.option(
    "--include",
    "before",
    metavar="FILE.rdl",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Read this file first, such as another tool's declarations of properties; repeatable.",
)
@click.option(
    "--ids", metavar="VENDOR:DEVICE", help="PCI IDs, such as 1234:11e8, if the file has none."
)
def import_rdl(file: Path, before: tuple[Path, ...], ids: str | None) -> None:
    """Convert a card's SystemRDL description to a specification, and print it.

    Config space, BARs, doorbells, interrupts and DMA are properties that understudy defines. The
    NAME.rdl that understudy card generate writes begins with their declarations. A register map of
    somebody else has none; with --ids, all of it is BAR 0 of a card.
    """
    from understudy_devices.cards.rdl_import import load_rdl  # its compiler takes 0.1 s

    click.echo(yaml_text(load_rdl(file, before, _ids(ids))), nl=False)


def _ids(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    if not (match := re.fullmatch(r"([0-9a-f]{4}):([0-9a-f]{4})", text.lower())):
        raise UserError(f'--ids "{text}": write two numbers of four hexadecimal digits: 1234:11e8')
    return int(match[1], 16), int(match[2], 16)


@command.command(epilog="Example: understudy card schema > card.schema.json")
def schema() -> None:
    """Print the JSON Schema of specifications, for editors that check while you type.

    The schema checks each key by itself; understudy card check also checks how keys fit together.
    """
    click.echo(json.dumps(specification.schema(), indent=2))


def _tell(wrong: WrongCard, as_json: bool) -> None:
    if as_json:
        mistakes = [{"line": line, "reason": reason} for line, reason in wrong.mistakes]
        click.echo(json.dumps({"file": wrong.file, "mistakes": mistakes}, indent=2))
    else:
        click.echo(plain(str(wrong)), err=True)


def _lines(card: Card) -> Iterator[tuple[str, str]]:
    config = card.config
    yield "PCI", f"{config.vendor:04x}:{config.device:04x}, class {config.class_code:06x}"
    yield "interrupts", str(card.capabilities)
    for bar in card.bars:
        yield f"BAR {bar.number}", f"{bar.name}: {bar.bytes:,} bytes, {bar.kind}"
    for interrupt in card.interrupts:
        yield "interrupt", f"{interrupt.name}: {interrupt.status}, enabled by {interrupt.enable}"
    for buffer in (*card.buffers, *card.rings):
        yield "DMA", _transfer(buffer)


def _transfer(buffer: Buffer) -> str:
    way = "read by the card" if buffer.direction == "to_device" else "written by the card"
    return f"{buffer.name}: {buffer.address}, {buffer.length}, {buffer.doorbell}; {way}"


def _registers(card: Card) -> Iterator[tuple[str, tuple[str, ...]]]:
    for register in card.all_registers:
        yield (
            register.name,
            (
                str(register.bar),
                f"{register.offset:#05x}",
                str(register.width),
                f"{register.initial:#x}",
                register.kind,
                register.access or "fields",
            ),
        )
