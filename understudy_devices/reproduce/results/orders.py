# SPDX-License-Identifier: MIT
"""Static orders of service: PERFORM 2010 Table 1, and the example of its slides."""

from dataclasses import asdict, dataclass

from understudy_devices.papers.orders import orders
from understudy_devices.papers.printed import PERFORM, SLIDES
from understudy_devices.reproduce import Asked, Reproduced
from understudy_devices.show.grid import Grid

PRINTED = ((PERFORM, "Table 1"), (SLIDES, "example"))
SECONDS = {"sim": 1}
DIFFERS = """
Nothing differs. The service time of a request is its distance from the head, and all requests are
pending from the start, so there is nothing to measure: `core/` computes the orders.
"""


@dataclass(frozen=True)
class Example:
    """The head's location, the requests in order of arrival, and the paper's mean times (service,
    response) by our name of the order."""

    head: int
    requests: tuple[int, ...]
    paper: dict[str, tuple[float, float]]


EXAMPLES = {
    PRINTED[0]: Example(100, (20, 82, 120, 200), {"sstf": (79.0, 131.5), "optimal": (75.0, 124.5)}),
    PRINTED[1]: Example(
        50,
        (95, 10, 60, 41),
        {"fcfs": (49.75, 138.5), "sstf": (37.0, 62.0), "optimal": (36.25, 61.0)},
    ),
}
HEADINGS = ("order", "service: paper", "ours", "response: paper", "ours")


def run(asked: Asked) -> Reproduced:
    """Compute both examples."""
    found = {key: orders(each.head, each.requests) for key, each in EXAMPLES.items()}
    tables = [
        Grid(
            HEADINGS,
            [
                [
                    (
                        name,
                        (
                            ", ".join(map(str, found[key][name].order)),
                            f"{service:.2f}",
                            f"{found[key][name].mean_service:.2f}",
                            f"{response:.2f}",
                            f"{found[key][name].mean_response:.2f}",
                        ),
                    )
                    for name, (service, response) in example.paper.items()
                ]
            ],
            ", ".join(key),
            words=HEADINGS[:1],
        )
        for key, example in EXAMPLES.items()
    ]
    figures = {
        ", ".join(key): {name: asdict(found[key][name]) for name in example.paper}
        for key, example in EXAMPLES.items()
    }
    return Reproduced(tables, figures)
