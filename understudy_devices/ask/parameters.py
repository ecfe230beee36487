# SPDX-License-Identifier: MIT
"""Parameters of an experiment; each is declared once, as a field of a dataclass.

The declaration determines the option on the command line, the check of the range, the platforms
that support the parameter, and the parameter's column in results.  A slot of an experiment
(understudy_devices.ask.experiment) is a frozen dataclass of such fields.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from understudy_devices.base.errors import UserError

EVERYWHERE = ("sim", "vm", "real")
WHERE = {"sim": "the simulator", "vm": "the VM"}
KEY = "parameter"


@dataclass(frozen=True)
class Parameter:
    """The declaration of a field.

    `low` and `high` are inclusive, in `unit`.  `told` is the format of the value in headings,
    which do not show default values.  `parse` converts the text that was typed; if there is no
    `parse`, `kind` converts it.  `column` is the column's name in results, if it differs from the
    field's name; None means that there is no column.
    """

    option: str
    help: str
    kind: type[int] | type[float] | type[str] = int
    low: float | None = None
    high: float | None = None
    unit: str = ""
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    parse: Callable[[str], Any] | None = None
    platforms: tuple[str, ...] = EVERYWHERE
    column: str | None = ""
    told: str = ""

    def check(self, value: Any) -> None:
        """Refuse a value outside the range; None is allowed."""
        if value is None or self.low is None:
            return
        for one in value if isinstance(value, tuple) else (value,):
            if not self.low <= one <= (self.high or float("inf")):
                raise UserError(f"{self.option}: {one} is outside {self.low} to {self.high}")


def parameter(default: Any = dataclasses.MISSING, **declared: Any) -> Any:
    """Return a dataclass field that is a parameter."""
    return dataclasses.field(default=default, metadata={KEY: Parameter(**declared)})


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The base class of slots and of their parts; it checks every parameter against its range."""

    name: ClassVar[str] = ""
    chosen_by: ClassVar[str] = ""  # the option that chooses among the slot's classes

    def __post_init__(self) -> None:
        """Check every parameter."""
        for field, declared in self.declared().items():
            declared.check(getattr(self, field))

    @classmethod
    def declared(cls) -> dict[str, Parameter]:
        """Return the class's parameters, by the names of their fields."""
        return {
            field.name: field.metadata[KEY]
            for field in dataclasses.fields(cls)
            if KEY in field.metadata
        }

    @classmethod
    def of(cls, values: Mapping[str, Any], **rest: Any) -> Self:
        """Make an instance from the given values whose names it declares; ignore None values."""
        own = {name: values[name] for name in cls.declared() if values.get(name) is not None}
        for field in dataclasses.fields(cls):
            if field.name in own or field.name in rest or KEY not in field.metadata:
                continue
            if field.default is dataclasses.MISSING:
                needed = field.metadata[KEY].option
                raise UserError(f"{cls.chosen_by}: {cls.name} needs {needed}")
        return cls(**own, **rest)

    def columns(self) -> dict[str, Any]:
        """Return the values, as columns of a result."""
        return {
            declared.column or field: getattr(self, field)
            for field, declared in self.declared().items()
            if declared.column is not None
        }

    def told(self) -> list[str]:
        """Return a phrase for the heading for each value that is not the default."""
        return [
            field.metadata[KEY].told.format(_listed(getattr(self, field.name)))
            for field in dataclasses.fields(self)
            if KEY in field.metadata
            and field.metadata[KEY].told
            and getattr(self, field.name) != field.default
        ]

    def refuse_elsewhere(self, platform: str) -> None:
        """Refuse a value that the platform does not support, unless it is the default."""
        for field in dataclasses.fields(self):
            declared = field.metadata.get(KEY)
            if not declared or platform in declared.platforms:
                continue
            if getattr(self, field.name) != field.default:
                raise UserError(only_on(declared.option, declared.platforms[0]))


def only_on(option: str, platform: str) -> str:
    """Return the message that refuses an option of another platform."""
    return f"{option}: only in {WHERE[platform]}; add --on {platform}"


def columns_of(slots: Iterable[type[Parameters]]) -> dict[str, type[Any]]:
    """Return the columns of a slot's classes, with their types; a column of several classes
    occurs once."""
    return {
        declared.column or field: declared.kind
        for slot in slots
        for field, declared in slot.declared().items()
        if declared.column is not None
    }


def _listed(value: Any) -> Any:
    """Return several values as the text of one cell, separated by commas as they were typed."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else value
