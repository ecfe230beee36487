# SPDX-License-Identifier: MIT
"""Mutations of a Python file, found by its syntax tree."""

import ast
from collections.abc import Iterator
from itertools import pairwise

from .mutation import Mutation, mutation

COMPARE = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
OPERATOR = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "*",
    ast.Pow: "*", ast.BitAnd: "|", ast.BitOr: "&", ast.LShift: ">>", ast.RShift: "<<",
}  # fmt: skip
COMMUTATIVE = ("max", "min", "maximum", "minimum")
GUARDS = ("frozen", "strict")  # keywords that refuse mistakes of a programmer's
Change = tuple[ast.expr | ast.stmt, str]


def mutations(file: str, source: str) -> list[Mutation]:
    """Return all mutations of a file, in its order, except in annotations and strings."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    lines = source.splitlines()

    def place(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    changes = []
    for node, becomes in _changes(ast.parse(source)):
        start = place(node.lineno, node.col_offset)
        end = place(node.end_lineno or 0, node.end_col_offset or 0)
        changes.append(mutation(file, source, start, end, becomes))
    return sorted(changes, key=lambda one: (one.start, one.end, one.becomes))


def _changes(tree: ast.AST) -> Iterator[Change]:
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_left_out(child):
                yield from _of(child)
                yield from _changes(child)


def _is_left_out(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.keyword) and node.arg in GUARDS)


def _of(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare(ops=[one]):
            yield node, f"({_text(node.left)} {COMPARE[type(one)]} {_text(node.comparators[0])})"
        case ast.BinOp() if type(node.op) in OPERATOR:
            yield node, f"({_text(node.left)} {OPERATOR[type(node.op)]} {_text(node.right)})"
        case ast.BoolOp():
            word = " or " if isinstance(node.op, ast.And) else " and "
            yield node, "(" + word.join(f"({_text(value)})" for value in node.values) + ")"
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield node, f"({_text(node.operand)})"
        case ast.Constant(value=bool()):
            yield node, str(not node.value)
        case ast.Constant(value=int() | float()):
            yield node, f"({node.value!r} + 1)"
            yield node, f"({node.value!r} - 1)"
        case ast.If() | ast.IfExp():
            yield node.test, f"(not ({_text(node.test)}))"
        case ast.Expr(value=ast.Call()) | ast.Assign() | ast.AugAssign():
            yield node, "pass"
        case ast.Call(args=[_, _, *_]):
            yield from _swapped(node)


def _swapped(call: ast.Call) -> Iterator[Change]:
    if _text(call.func).rpartition(".")[2] in COMMUTATIVE:
        return
    for i, (first, second) in enumerate(pairwise(call.args)):
        if ast.dump(first) != ast.dump(second):
            args = [*call.args[:i], second, first, *call.args[i + 2 :]]
            yield call, _text(ast.Call(call.func, args, call.keywords))


def _text(node: ast.expr) -> str:
    return ast.unparse(node)
