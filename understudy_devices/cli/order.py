# SPDX-License-Identifier: MIT
"""`understudy order`: compare static orders of service (PERFORM 2010 Table 1)."""

import json
from dataclasses import asdict

import click
from rich.console import Console
from rich.table import Table

from understudy_devices.base.errors import UserError
from understudy_devices.papers.orders import Order, orders


@click.command("order")
@click.option("--head", required=True, metavar="SECTOR", help="Position of the head.")
@click.option(
    "--requests", required=True, metavar="SECTOR,...", help="Pending requests, oldest first."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(head: str, requests: str, as_json: bool) -> None:
    """Compare the orders in which pending requests could be served.

    The service time of a request is its distance from the previous request.  Response times count
    from now.  The order "optimal" has the least mean response time, but not always the least mean
    service time.  The papers' example:

    \b
        understudy order --head 100 --requests 20,82,120,200
    """
    start = _position("--head", head)
    by_algorithm = orders(start, _positions(requests))
    if as_json:
        result = {name: asdict(order) for name, order in by_algorithm.items()}
        click.echo(json.dumps({"head": start, "orders": result}))
    else:
        Console().print(_table(by_algorithm))
        click.echo("optimal: the least mean response time of all orders")


def _positions(text: str) -> list[int]:
    if not text.strip():
        return []
    return [_position("--requests", item) for item in text.split(",")]


def _position(option: str, text: str) -> int:
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
        raise UserError(f'{option}: "{digits[:40]}" is not a whole number from 0')
    return int(digits)


def _table(by_algorithm: dict[str, Order]) -> Table:
    table = Table()
    table.add_column("algorithm")
    table.add_column("order")
    table.add_column("mean service", justify="right")
    table.add_column("mean response", justify="right")
    for name, order in by_algorithm.items():
        table.add_row(
            name,
            ", ".join(str(position) for position in order.order),
            _figure(order.mean_service),
            _figure(order.mean_response),
        )
    return table


def _figure(mean: float) -> str:
    """Format a mean with one or two decimal places: 79.0 as in the paper, and 36.25."""
    whole, places = f"{mean:.2f}".split(".")
    return f"{whole}.{places.rstrip('0') or '0'}"
