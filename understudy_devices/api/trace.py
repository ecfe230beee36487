# SPDX-License-Identifier: MIT
"""`trace`: read a recorded trace, and describe it."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from understudy_devices.api import options
from understudy_devices.base import parquet, scratch
from understudy_devices.base.errors import UserError
from understudy_devices.traces.characterise import BINS, Character, characterise
from understudy_devices.traces.read import recorded
from understudy_devices.traces.trace import Trace

MEASURES = {"measure": pl.String, "unit": pl.String, "figure": pl.String, "value": pl.Float64}


def trace(
    file: str | os.PathLike[str],
    *,
    columns: str | Sequence[str] | None = None,
    format: str | None = None,
) -> "Recorded":
    """Read a trace in any format of docs/traces.md.

    The content decides the format, unless `format` names it, or `columns` describes a text with a
    request a line: "time_s,op,lba,bytes,latency_us".

    The result describes it, and is accepted by `us.predict(workload="trace", trace=...)`.  If the
    file is truncated, the result has the complete requests, and `broken` says where it ends.
    """
    name = os.fspath(file)
    form = options.form(columns, format)
    typed = [
        word
        for option, value in (("--columns", form.columns), ("--format", form.format))
        if value
        for word in (option, value)
    ]
    command = options.shell(["understudy", "trace", "info", name, *typed])
    return Recorded(command, recorded(name, form))


def check(file: Path) -> None:
    """Refuse a file name that is not that of a Parquet file."""
    if file.suffix != ".parquet":
        raise UserError(f"{file}: the name of a Parquet file ends in .parquet")


@dataclass(frozen=True, repr=False)
class Recorded:
    """A trace and its description."""

    command: str
    trace: Trace

    @cached_property
    def character(self) -> Character:
        """Return the figures of the whole trace."""
        return characterise(self.trace)

    @property
    def broken(self) -> str | None:
        """Return where the file breaks off, if it does."""
        return self.trace.broken

    @property
    def notices(self) -> tuple[str, ...]:
        """Return which volumes there are, and what was left out, out of order, or cut off."""
        from understudy_devices.show import traced

        return tuple(traced.losses(self.trace))

    @cached_property
    def requests(self) -> pl.DataFrame:
        """Return a row for each request, in order of arrival, with the columns of
        requests.parquet (docs/method.md)."""
        one = self.trace
        times = {"dispatch_ns": one.dispatch_ns, "completion_ns": one.completion_ns}
        return pl.DataFrame(
            {
                "arrival_ns": one.arrival_ns,
                **{name: column for name, column in times.items() if column is not None},
                **({"sector": one.sector} if one.placed else {}),
                "sectors": one.sectors,
                "op": np.where(one.op == 1, "write", "read"),
                "owner": one.owner,
                **({"volume": self._volumes} if self._volumes is not None else {}),
            }
        )

    @property
    def _volumes(self) -> pl.Series | None:
        """Return the name of each request's volume; None if there is only one."""
        if self.trace.volume is None or len(self.trace.volumes) < 2:
            return None
        return pl.Series(self.trace.volumes).gather(self.trace.volume)

    @cached_property
    def measures(self) -> pl.DataFrame:
        """Return the figures of sizes, times between arrivals and response times: a row for each
        figure, such as mean, cv, p95 or acf 1."""
        series = {
            ("size", "KiB"): self.character.size,
            ("interarrival", "ms"): self.character.interarrival,
            ("response", "ms"): self.character.response,
        }
        rows = [
            (*key, name, value)
            for key, each in series.items()
            if each
            for name, value in _figures(asdict(each)).items()
        ]
        return pl.DataFrame(rows, schema=MEASURES, orient="row")

    def as_json(self) -> dict[str, Any]:
        """Return what `understudy trace info --json` prints for the trace."""
        return {
            "file": self.trace.name,
            **asdict(self.character),
            "end_sector": self.trace.end_sector if self.trace.placed else None,
            "bins": dict(zip(BINS, self.character.bins, strict=True)),
            "volumes": list(self.trace.volumes),
            "left_out": dict(self.trace.left_out),
            "out_of_order": self.trace.out_of_order,
            "broken": self.trace.broken,
        }

    def write(self, file: str | os.PathLike[str]) -> Path:
        """Write the requests as a Parquet file, as `understudy trace convert` does."""
        path = Path(file)
        check(path)
        with scratch.replacing(path) as fresh:
            parquet.write(self.requests, fresh)
        return path

    def __repr__(self) -> str:
        """Return what `understudy trace info` prints."""
        from understudy_devices.show import notebook, traced

        return notebook.printed(lambda out: traced.show(self.trace, self.character, out))

    def _repr_html_(self) -> str:
        """Return the tables and a picture for a notebook."""
        from understudy_devices.show import inline, notebook, picture, traced, traces

        with inline.styled():
            figure = traces.figure([self.trace])
            picture.settle(figure)
            drawing = inline.Drawing(traces.CAPTION, inline.svg(figure))
        section = notebook.Section(
            traced.headline(self.trace, self.character),
            traced.grids(self.character),
            traced.sentences(self.trace, self.character),
            drawing,
        )
        return notebook.html(self.command, [section])


def _figures(series: Mapping[str, Any]) -> dict[str, float | None]:
    plain = {name: series[name] for name in ("mean", "std", "cv")}
    lags = {f"acf {lag}": value for lag, value in series["autocorrelation"].items()}
    percents = {f"p{percent}": value for percent, value in series["percentiles"].items()}
    return plain | lags | percents
