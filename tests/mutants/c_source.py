# SPDX-License-Identifier: MIT
"""Mutations of a C file, found by its tokens.

clang-format formats the files: a binary operator has white space on both sides, and a pointer's
star does not.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from .mutation import Mutation, mutation

TOKEN = re.compile(
    r"""(?P<skip>/\*.*?\*/|//[^\n]*|^[ ]*\#(?!\s*define)(?:\\\n|[^\n])*
              |"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
      | (?P<number>\b(?:0x[0-9a-fA-F]+|\d+)(?:ull|ul|u)?\b)
      | (?P<name>\#?\b[A-Za-z_]\w*\b)
      | (?P<operator><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\?:|[-+*/%&|^]=
              |[-+*/%&|^<>=!~?:;,.(){}\[\]])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
OTHER = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "<<": ">>", ">>": "<<",
    "&": "|", "|": "&", "^": "|", "&&": "||", "||": "&&",
    "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "|=": "&=", "&=": "|=",
    "<<=": ">>=", ">>=": "<<=", "++": "--", "--": "++", "true": "false", "false": "true",
}  # fmt: skip
NO_STATEMENT = {
    "if", "else", "for", "while", "do", "switch", "case", "default", "return", "goto",
    "struct", "enum", "union", "const", "static", "typedef", "extern", "inline", "unsigned",
    "void", "bool", "char", "int", "long", "double", "size_t", "u8", "u16", "u32", "u64", "s64",
}  # fmt: skip
NO_CALL = {"if", "for", "while", "switch", "return", "sizeof", "offsetof", "defined"}
# Functions whose first pairs of arguments can be swapped without effect: the number of pairs.
COMMUTE = {
    "port_mul_div": 1, "arm_distance": 1, "min_u64": 1, "same": 1, "later": 1, "nearer": 1,
}  # fmt: skip
CLOSES = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Token:
    """A token of the source; comments and strings have the kind "skip"."""

    kind: str
    text: str
    start: int
    end: int


def mutations(file: str, source: str) -> list[Mutation]:
    """Return all mutations of a file, in its order."""
    tokens = [
        Token(str(changes.lastgroup), changes.group(), changes.start(), changes.end())
        for changes in TOKEN.finditer(source)
    ]
    tokens = [token for token in tokens if token.kind != "skip" or token.text[0] in "\"'"]
    changes = [
        mutation(file, source, start, end, becomes)
        for part in (_tokens, _conditions, _statements, _arguments)
        for start, end, becomes in part(source, tokens)
    ]
    return sorted(changes, key=lambda one: (one.start, one.end, one.becomes))


Change = tuple[int, int, str]


def _tokens(source: str, tokens: list[Token]) -> Iterator[Change]:
    """Yield changed operators, truth values and whole numbers."""
    for token in tokens:
        if token.text in OTHER and (token.kind == "name" or _is_operator(source, token)):
            yield token.start, token.end, OTHER[token.text]
        if token.text == "!":
            yield token.start, token.end, ""
        if token.kind == "number":
            for by in (1, -1):
                if changed := _number(token.text, by):
                    yield token.start, token.end, changed


def _is_operator(source: str, token: Token) -> bool:
    alone = source[token.start - 1].isspace() and source[token.end : token.end + 1].isspace()
    return alone or token.text in ("++", "--")


def _number(text: str, by: int) -> str | None:
    digits = text.rstrip("ul")
    value = int(digits, 0 if digits.startswith("0x") else 10) + by
    if value < 0:
        return None
    return (hex(value) if digits.startswith("0x") else str(value)) + text[len(digits) :]


def _conditions(source: str, tokens: list[Token]) -> Iterator[Change]:
    """Yield negated conditions."""
    for i, token in enumerate(tokens):
        if token.text in ("if", "while") and tokens[i + 1].text == "(":
            start, end = tokens[i + 1].start, tokens[_closing(tokens, i + 1)].end
            yield start, end, f"(!{source[start:end]})"
        if token.text == "?":
            yield token.start, token.end, "== 0 ?"


def _statements(source: str, tokens: list[Token]) -> Iterator[Change]:
    """Yield removed statements."""
    braces = brackets = 0
    for i, token in enumerate(tokens):
        braces += (token.text == "{") - (token.text == "}")
        brackets += (token.text == "(") - (token.text == ")")
        inside = braces and not brackets
        begins = inside and token.kind == "name" and _may_follow(tokens, i - 1)
        if not begins or token.text in NO_STATEMENT or _is_label(tokens, i):
            continue
        end = i
        while tokens[end].text not in (";", "{", "}"):
            end = _closing(tokens, end) + 1 if tokens[end].text in CLOSES else end + 1
        if tokens[end].text == ";":
            yield token.start, tokens[end].end, ";"


def _may_follow(tokens: list[Token], i: int) -> bool:
    """Return whether a statement can begin after this token."""
    if tokens[i].text == ":":
        return "case" in (tokens[i - 2].text, tokens[i - 3].text) or tokens[i - 1].text == "default"
    if tokens[i].text in (";", "{", "}", "else", "do"):
        return True
    if tokens[i].text != ")":
        return False
    opening = i
    depth = 0
    while opening:
        depth += (tokens[opening].text == ")") - (tokens[opening].text == "(")
        if not depth:
            break
        opening -= 1
    return tokens[opening - 1].text in ("if", "while", "for")


def _is_label(tokens: list[Token], i: int) -> bool:
    return tokens[i + 1].text == ":"


def _arguments(source: str, tokens: list[Token]) -> Iterator[Change]:
    """Yield calls with two adjacent arguments swapped."""
    depth = 0
    for i, token in enumerate(tokens[:-1]):
        depth += (token.text == "{") - (token.text == "}")
        is_call = token.kind == "name" and tokens[i + 1].text == "(" and depth
        if not is_call or token.text in NO_CALL:
            continue
        spans = _between_commas(tokens, i + 1)[COMMUTE.get(token.text, 0) :]
        for (a, b), (c, d) in pairwise(spans):
            first, gap, second = source[a:b], source[b:c], source[c:d]
            if first != second:
                yield a, d, second + gap + first


def _between_commas(tokens: list[Token], opening: int) -> list[tuple[int, int]]:
    spans, i, end = [], opening + 1, _closing(tokens, opening)
    begun = i
    while i <= end:
        if i == end or tokens[i].text == ",":
            if i > begun:
                spans.append((tokens[begun].start, tokens[i - 1].end))
            begun = i + 1
        i = _closing(tokens, i) + 1 if i < end and tokens[i].text in CLOSES else i + 1
    return spans


def _closing(tokens: list[Token], opening: int) -> int:
    """Return the index of the closing bracket."""
    depth = 0
    for i in range(opening, len(tokens)):
        depth += (tokens[i].text in CLOSES) - (tokens[i].text in CLOSES.values())
        if not depth:
            return i
    raise ValueError(f"a bracket at {tokens[opening].start} is never closed")
