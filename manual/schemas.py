# SPDX-License-Identifier: MIT
"""Pages about the keys of profiles and cards, made from their Pydantic models.

Each model is a section with a table: key, type and range, default, meaning.  The meaning is the
string below the field, in the class's source.
"""

import ast
import inspect
import types
from collections.abc import Iterable, Iterator
from textwrap import dedent
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from manual.markdown import anchor, cell, table

COLUMNS = ("key", "type", "default", "meaning")
NAMES = {
    int: "whole number",
    float: "number",
    str: "text",
    bool: "true or false",
    dict: "table",
}
LIMITS = {"ge": "from {}", "gt": "above {}", "le": "to {}", "lt": "below {}"}
LENGTHS = {"min_length": "at least {}", "max_length": "at most {}"}


def page(title: str, opening: str, model: type[BaseModel]) -> str:
    """Return the page of a model and of the models that it contains."""
    parts = [f"# {title}", opening]
    for each in _models(model):
        keys = [
            (f"`{name}`", _type(field.annotation, field.metadata), _default(field), text)
            for name, field in each.model_fields.items()
            for text in [_meanings(each).get(name, "")]
        ]
        parts += [f"## {each.__name__}", inspect.getdoc(each) or "", table(COLUMNS, keys)]
    return "\n\n".join(parts) + "\n"


def _models(model: type[BaseModel]) -> list[type[BaseModel]]:
    """Return a model and all models in its fields, each once."""
    found = [model]
    for each in found:
        for field in each.model_fields.values():
            found += [it for it in _inside(field.annotation) if it not in found]
    return found


def _inside(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _inside(inner)


def _type(annotation: Any, metadata: Iterable[Any] = ()) -> str:
    """Return a type in words, with its range."""
    origin, inner = get_origin(annotation), get_args(annotation)
    ranges = _ranges(metadata)
    if origin is Annotated:
        return _type(inner[0], [it for each in inner[1:] for it in _constraints(each)])
    if origin in (Union, types.UnionType):
        return " or ".join(_type(it, metadata) for it in inner if it is not type(None))
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in inner)
    if origin in (tuple, list):
        return f"list of {_type(inner[0])}{ranges}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{annotation.__name__}](#{anchor(annotation.__name__)})"
    return f"{NAMES.get(origin or annotation, 'text')}{ranges}"


def _constraints(metadata: Any) -> Iterable[Any]:
    return metadata.metadata if isinstance(metadata, FieldInfo) else [metadata]


def _ranges(metadata: Iterable[Any]) -> str:
    words = [
        form.format(f"{limit:,}" if isinstance(limit, int) else f"{limit:g}")
        for forms in (LIMITS, LENGTHS)
        for name, form in forms.items()
        for each in metadata
        if (limit := getattr(each, name, None)) is not None
    ]
    words += [f"`{pattern}`" for each in metadata if (pattern := getattr(each, "pattern", None))]
    return f" ({' '.join(words)})" if words else ""


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if field.default in (None, "", ()) or isinstance(field.default, BaseModel):
        return "none"
    return f"`{cell(str(field.default))}`"


def _meanings(model: type[BaseModel]) -> dict[str, str]:
    """Return the string below each field, in the sources of a class and of its bases."""
    meanings: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base is not BaseModel:
            (body,) = ast.parse(dedent(inspect.getsource(base))).body
            assert isinstance(body, ast.ClassDef)
            for field, below in zip(body.body, body.body[1:], strict=False):
                match field, below:
                    case (
                        ast.AnnAssign(target=ast.Name(id=name)),
                        ast.Expr(value=ast.Constant(value=str(text))),
                    ):
                        meanings[name] = " ".join(text.split())
    return meanings
