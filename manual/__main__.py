# SPDX-License-Identifier: MIT
"""Write the site or the man pages (python -m manual)."""

import click

from manual import man, website


@click.group()
def main() -> None:
    """Write the site or the man pages."""


@main.command("site")
def write_site() -> None:
    """Write build/site."""
    click.echo(website.build())


@main.command("man")
def write_man() -> None:
    """Write build/man."""
    click.echo(man.write())


if __name__ == "__main__":
    main(prog_name="python -m manual")
