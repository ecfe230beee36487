# SPDX-License-Identifier: MIT
"""Values of options, as keyword arguments: `virtual_size="40GB"` is --virtual-size 40GB.

The slots, which are the parts of an experiment (ask/), declare their options.  A value that a
person could type is first turned into that text, and then parsed as on the command line.  So both
accept and refuse the same values, and each call has a command that does the same.
"""

import inspect
import math
import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from understudy_devices.ask.device import Device
from understudy_devices.ask.experiment import Run
from understudy_devices.ask.parameters import Parameter, Parameters
from understudy_devices.ask.setting import SETTINGS
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.base import catalog
from understudy_devices.base.errors import UserError
from understudy_devices.traces.form import Form
from understudy_devices.traces.trace import Trace

DISK = "cheetah-15k4"
WORKLOAD = "surge-direct"
SEEDS = 10  # of compare
SLOTS: tuple[type[Parameters], ...] = (*WORKLOADS.values(), Run, Device, *SETTINGS.values())
KINDS = {int: "a whole number", float: "a number"}


def declared_by(slots: Iterable[type[Parameters]]) -> dict[str, Parameter]:
    """Return every parameter of the slots, without duplicates, by field."""
    return {name: entry for slot in slots for name, entry in slot.declared().items()}


def keyword(declared: Parameter) -> str:
    """Return the keyword argument of an option: think_ms for --think-ms."""
    return declared.option.removeprefix("--").replace("-", "_")


DECLARED = declared_by(SLOTS)
OF_WORKLOADS = declared_by(WORKLOADS.values())
FIELDS = {keyword(declared): field for field, declared in DECLARED.items()}


def text(value: Any) -> str | None:
    """Return what a person would type for the value; None for an object that can't be typed."""
    if isinstance(value, Mapping):
        pairs = [(_word(name), _word(each)) for name, each in value.items()]
        return ",".join(f"{name}={each}" for name, each in pairs)
    if isinstance(value, list | tuple | np.ndarray):
        return ",".join(map(_word, value))
    try:
        return _word(value)
    except TypeError:
        return None


def _word(value: Any) -> str:
    if isinstance(value, str | os.PathLike):
        return os.fspath(value)
    if isinstance(value, int | float | np.integer | np.floating):
        whole = not isinstance(value, bool) and float(value).is_integer()
        return str(int(value)) if whole else str(value)
    raise TypeError(f"{value!r} can't be typed")


def parsed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the slots' parameters by field, in the order of declaration.

    A value of None counts as not given.  Raise a UserError for an unknown name or a wrong value.
    """
    for name in given:
        if name not in FIELDS:
            raise UserError(f"unknown option {name}: {catalog.nearest(name, FIELDS)}")
    values = {FIELDS[name]: value for name, value in given.items() if value is not None}
    described = form(values.get("trace_columns"), values.get("trace_format"))
    if described != Form() and (file := text(values.get("trace"))):
        from understudy_devices.traces.read import load  # imports Polars

        values["trace"] = load(file, described)
    return {
        field: _parsed(declared, values[field])
        for field, declared in DECLARED.items()
        if field in values
    }


def form(columns: Any, format: Any) -> Form:
    """Return the form of a trace's file; raise a UserError if it is wrong."""
    return Form(
        None if format is None else names("--format", format),
        None if columns is None else names("--columns", columns),
    )


def _parsed(declared: Parameter, value: Any) -> Any:
    words = text(value)
    if words is None:
        return _object(declared, value)
    if declared.parse:
        return declared.parse(words)
    if declared.choices:
        choice(declared.option, words, declared.choices)
    try:
        return declared.kind(words)
    except ValueError:
        wanted = KINDS[declared.kind]
        raise UserError(f"{declared.option}: {words} is not {wanted}") from None


def _object(declared: Parameter, value: Any) -> Any:
    """Return an object that is already what the option's text would be parsed to."""
    recorded = getattr(value, "trace", value)  # the result of `trace`
    if declared is not DECLARED["trace"] or not isinstance(recorded, Trace):
        raise UserError(f"{declared.option}: a {type(value).__name__} is no value of this option")
    from understudy_devices.traces.read import whole  # imports Polars

    return whole(recorded)


def within(option: str, value: Any, low: int, high: int) -> int:
    """Return a whole number from `low` to `high`; raise a UserError for any other value."""
    words = text(value)
    try:
        number = int(words or "")
    except ValueError:
        raise UserError(
            f"{option}: {words or type(value).__name__} is not a whole number"
        ) from None
    if not low <= number <= high:
        raise UserError(f"{option}: {number} is outside {low} to {high}")
    return number


def above_zero(option: str, value: Any) -> float:
    """Return a number above 0; raise a UserError for any other value."""
    words = text(value)
    try:
        number = float(words or "")
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        shown = words or type(value).__name__
        raise UserError(f"{option}: {shown} is not a number above 0")
    return number


def optional(option: str, value: Any, low: int, high: int) -> int | None:
    """Return None, or a whole number from `low` to `high`."""
    return None if value is None else within(option, value, low, high)


def number(option: str, value: Any, low: float, high: float) -> float:
    """Return a number from `low` to `high`; raise a UserError for any other value."""
    words = text(value)
    try:
        result = float(words or "")
    except ValueError:
        result = math.nan
    if not low <= result <= high:
        shown = words or type(value).__name__
        raise UserError(f"{option}: {shown} is not a number from {low:g} to {high:g}")
    return result


def choice(option: str, value: Any, choices: Sequence[str]) -> None:
    """Raise a UserError if the value is none of the choices."""
    if value not in choices:
        raise UserError(f"{option}: {value} is none of its choices: {', '.join(choices)}")


def names(option: str, value: Any) -> str:
    """Return names or files as a person would type them, separated by commas."""
    words = text(value)
    if words is None:
        raise UserError(f"{option}: a {type(value).__name__} is no name, no file and no list")
    return words


def tunables(value: Any) -> tuple[str, ...]:
    """Return the values of --set; `value` is a dictionary, such as {"cats.busdriver_ns": 5}, a
    text or several texts."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Mapping):
        return tuple(f"{name}={text(each)}" for name, each in value.items())
    return tuple(map(str, value))


def command(
    name: str,
    given: Mapping[str, Any],
    *,
    words: Sequence[str] = (),
    repeated: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Return the command line with these options; those that are None are left out.

    `words` are arguments without an option, and `repeated` the options that may be given more than
    once.
    """
    line = ["understudy", name, *words]
    for key, value in given.items():
        if value is not None and value is not False:
            line += [_option(key)] if value is True else [_option(key), _typed(value)]
    for key, values in (repeated or {}).items():
        for each in values:
            line += [_option(key), each]
    return shell(line)


def _option(key: str) -> str:
    return f"--{key.replace('_', '-')}"


def shell(words: Sequence[str]) -> str:
    """Return a command line with these words."""
    return shlex.join(words)


def _typed(value: Any) -> str:
    recorded = getattr(value, "trace", value)
    return recorded.name if isinstance(recorded, Trace) else str(text(value))


def documented(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function with **options the signature that `help` and notebooks show: every option
    by name."""
    shown = inspect.signature(function)
    own = [each for each in shown.parameters.values() if each.kind is not each.VAR_KEYWORD]
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
        for name in FIELDS
        if name not in shown.parameters
    ]
    function.__signature__ = shown.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
    lines = [f"    {name}: {DECLARED[field].help}" for name, field in FIELDS.items()]
    function.__doc__ = "\n".join([function.__doc__ or "", "", "    Options:", *lines])
    return function
