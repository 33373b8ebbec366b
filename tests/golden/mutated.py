"""Programs near valid ones: tokens are missing, repeated, exchanged or odd; parts of other programs are inserted."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

from lsql_runner.bind.functions.table import AGGREGATES, FUNCTIONS

_TOKEN = re.compile(
    r"\s+|'(?:[^']|'')*'|`[^`]*`|\"[^\"]*\"|--[^\n]*|[A-Za-z_][\w$]*|\d+(?:\.\d+)?\w*|[=!<>|]{1,2}|.", re.DOTALL
)
_ODD = (
    *(
        "''",
        "``",
        '""',
        "'",
        "`",
        '"',
        "\x00",
        "\ud83d",
        "\U0001f600",
        "é",
        "\u2028",
        "“",
        "\u2019",
        "\\",
        "#",
        "@",
        "${x}",
        "--",
        "/*",
    ),
    *("0", "-1", "9999999999999999999999", "1e999", "1e-999", "0.000000000000000000000000000000000000001", "1m", "0s"),
    *(
        "99999999999999d",
        "1.5h",
        "null",
        "true",
        "interval",
        "_key",
        "_value",
        "_key.*",
        "_value._key",
        "*",
        ".*",
        "()",
    ),
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ";",
        ".",
        "=",
        "==",
        "<>",
        "||",
        ":",
        "decimal(99,99)",
        "array<",
        "struct<a:int>",
    ),
    *("SELECT", "STREAM", "TABLE", "FROM", "WHERE", "GROUP BY", "HAVING", "WINDOW BY", "TUMBLE", "HOP", "SESSION"),
    *("JOIN", "LEFT", "WITHIN", "ON", "AS", "WITH", "INSERT INTO", "STORE", "VALUE", "KEY", "LATERAL", "CASE", "WHEN"),
    *("END", "CAST", "SET", "CREATE TABLE", "FORMAT", "EVENTTIME BY", "DISTINCT", "LIMIT", "PK", "UNION", "IN", "LIKE"),
    *("BETWEEN", "NOT", "IS NULL", "COUNT(*)", "SUM(1)", "MAX(MAX(1))", "UUID()", "TOPK(1, 99999)", "COLLECT(*, -1)"),
)
_FUNCTIONS = frozenset({*FUNCTIONS, *AGGREGATES})
Tokens = list[str]


def _delete(random: Random, tokens: Tokens, _: Sequence[Tokens]) -> None:
    begin = random.randrange(len(tokens))
    del tokens[begin : begin + random.choice((1, 1, 2, 8))]


def _repeat(random: Random, tokens: Tokens, _: Sequence[Tokens]) -> None:
    begin = random.randrange(len(tokens))
    part = tokens[begin : begin + random.choice((1, 3, 20))]
    tokens[begin:begin] = part * random.choice((1, 1, 2, 50))


def _exchange(random: Random, tokens: Tokens, _: Sequence[Tokens]) -> None:
    one, other = random.randrange(len(tokens)), random.randrange(len(tokens))
    tokens[one], tokens[other] = tokens[other], tokens[one]


def _replace(random: Random, tokens: Tokens, _: Sequence[Tokens]) -> None:
    tokens[random.randrange(len(tokens))] = random.choice(_ODD)


def _insert(random: Random, tokens: Tokens, _: Sequence[Tokens]) -> None:
    tokens.insert(random.randrange(len(tokens)), f" {random.choice(_ODD)} ")


def _splice(random: Random, tokens: Tokens, others: Sequence[Tokens]) -> None:
    other = random.choice(others)
    begin, place = random.randrange(len(other)), random.randrange(len(tokens))
    tokens[place : place + random.choice((0, 5))] = other[begin : begin + random.choice((1, 5, 40))]


def _truncate(random: Random, tokens: Tokens, _: Sequence[Tokens]) -> None:
    del tokens[random.randrange(len(tokens)) :]


def _nest(random: Random, tokens: Tokens, _: Sequence[Tokens]) -> None:
    depth = random.choice((2, 30, 3_000))
    opened, closed = random.choice(
        (
            ("(", ")"),
            ("[", "]"),
            ("NOT ", ""),
            ("-", ""),
            ("CASE WHEN ", " END"),
            ("LEN(", ")"),
            ("SELECT STREAM * FROM (", ")"),
        )
    )
    place = random.randrange(len(tokens))
    tokens[place] = opened * depth + tokens[place] + closed * depth


def _kind(token: str) -> str:
    """Names, numbers, texts and symbols are exchanged for others of their kind: the result often parses."""
    first = token[0]
    if first.isalpha() or first in "_`":
        return "name" if not token.isupper() else "function" if token in _FUNCTIONS else "symbol"
    return "number" if first.isdigit() else first if first in "'\"" else "symbol"


def _exchange_alike(random: Random, tokens: Tokens, others: Sequence[Tokens]) -> None:
    for _ in range(20):
        place = random.randrange(len(tokens))
        if tokens[place].isspace() or _kind(tokens[place]) == "symbol":
            continue
        alike = [each for each in random.choice(others) if not each.isspace() and _kind(each) == _kind(tokens[place])]
        if alike:
            tokens[place] = random.choice(alike)
            return


_CHANGES: tuple[Callable[[Random, Tokens, Sequence[Tokens]], None], ...] = (
    *(_delete, _repeat, _exchange, _replace, _insert, _splice, _truncate, _nest),
    *(_delete, _replace, _insert, _splice, *(_exchange_alike,) * 12),
)


def tokens_of(program: str) -> Tokens:
    """The tokens of a program, with the blanks between them as tokens of their own."""
    return _TOKEN.findall(program)


def mutated(random: Random, programs: Sequence[Tokens]) -> str:
    """A program that differs from one of `programs` in one to four changes."""
    tokens = list(random.choice(programs))
    for _ in range(random.choice((1, 1, 2, 4))):
        if tokens:
            random.choice(_CHANGES)(random, tokens, programs)
    return "".join(tokens)
