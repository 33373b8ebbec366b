"""Prints a program in a canonical form, which parses to the same program.

Quotes around names are kept as they were written.
"""

from __future__ import annotations

import re
from functools import singledispatch

from lsql_runner.sql import ast
from lsql_runner.sql.cursor import RESERVED


def print_program(program: ast.Program) -> str:
    """The text of a program, one statement per line."""
    return "\n".join(_statement(statement) + ";" for statement in program.statements) + "\n"


@singledispatch
def _statement(statement: ast.Statement) -> str:
    raise TypeError(f"no such statement: {statement!r}")


@_statement.register
def _(statement: ast.SetStatement) -> str:
    return f"SET {quote_text(statement.key, '`')}={quote_text(statement.value, _QUOTE)}"


@_statement.register
def _(statement: ast.WithStatement) -> str:
    return _tables(statement.tables)


@_statement.register
def _(statement: ast.Insert) -> str:
    kcql = statement.kcql
    parts = [f"{'UPSERT' if kcql is not None and kcql.upsert else 'INSERT'} INTO {_topic(statement.target)}"]
    stores = [("KEY", statement.key_format), ("VALUE", statement.value_format)]
    named = [f"{word} AS {_format(form)}" for word, form in stores if form is not None]
    if named:
        parts.append("STORE " + " ".join(named))
    if statement.tables:
        parts.append(_tables(statement.tables))
    return " ".join([*parts, print_select(statement.select), *([] if kcql is None else _kcql(kcql))])


def _kcql(kcql: ast.Kcql) -> list[str]:
    parts: list[str] = []
    if kcql.key:
        parts.append("PK " + ", ".join(print_expression(path) for path in kcql.key))
    if kcql.value_format is not None:
        parts.append(f"WITHFORMAT {_format(kcql.value_format)}")
    if kcql.store_as is not None:
        options = [f"{name}={quote_text(value, _QUOTE)}" if value else name for name, value in kcql.store_as.options]
        parts.append(f"STOREAS {kcql.store_as.name}" + (f"({', '.join(options)})" if options else ""))
    if kcql.batch is not None:
        parts.append(f"BATCH {kcql.batch}")
    if kcql.autocreate:
        parts.append("AUTOCREATE")
    return parts


@_statement.register
def _(statement: ast.CreateTable) -> str:
    columns = ", ".join(
        f"{_path(c.path)} {print_type(c.type)}{'[]' * c.dimensions}{_not_null(c)}" for c in statement.columns
    )
    formats = f"{_format(statement.key_format)}, {_format(statement.value_format)}"
    return f"CREATE TABLE {_topic(statement.topic)}({columns}) FORMAT({formats})"


def _tables(tables: tuple[ast.CommonTable, ...]) -> str:
    return "WITH " + ", ".join(f"{_ident(table.name)} AS ({print_select(table.select)})" for table in tables)


def _format(form: ast.FormatName) -> str:
    return form.name if form.inner is None else f"{form.name}[{form.inner}]"


def print_type(name: ast.TypeName) -> str:
    """The text of a type."""
    if name.members:
        return f"{name.name}<{', '.join(_member(member) for member in name.members)}>"
    return name.name + (f"({','.join(map(str, name.parameters))})" if name.parameters else "")


def _member(member: ast.TypeMember) -> str:
    return (f"{_ident(member.field)}: " if member.field else "") + print_type(member.type) + _not_null(member)


def _not_null(typed: ast.Column | ast.TypeMember) -> str:
    return "" if typed.nullable else " not null"


# --- SELECT ---


def print_select(select: ast.Select) -> str:
    """The text of a SELECT."""
    parts = ["SELECT", *([select.mode] if select.mode else [])]
    parts.append(", ".join(_projection(item) for item in select.projections))
    parts.append(f"FROM {_source(select.source)}")
    if select.event_time is not None:
        parts.append(f"EVENTTIME BY {print_expression(select.event_time)}")
    parts += [_join(join) for join in select.joins]
    parts += [f"LATERAL {print_expression(each.array)} AS {_ident(each.alias)}" for each in select.laterals]
    if select.where is not None:
        parts.append(f"WHERE {print_expression(select.where)}")
    groups = [print_expression(expr) for expr in select.group_by]
    if select.window is not None and not select.window.legacy:
        parts.append(f"WINDOW BY {_modern_window(select.window)}")
    if select.grace is not None:
        parts.append(f"GRACE BY {_duration(select.grace)}")
    if select.window is not None and select.window.legacy:
        groups.insert(0, _legacy_window(select.window))
    if groups:
        parts.append("GROUP BY " + ", ".join(groups))
    if select.having is not None:
        parts.append(f"HAVING {print_expression(select.having)}")
    return " ".join(parts)


def _projection(item: ast.Projection) -> str:
    if isinstance(item.expr, ast.Star):
        text = "*" if item.expr.qualifier is None else f"{_path(item.expr.qualifier)}.*"
    else:
        text = print_expression(item.expr)
    if item.alias is not None:
        return f"{text} AS {_path(item.alias)}"
    if isinstance(item.expr, ast.NamePath | ast.Star) or text == item.text:
        return text
    return f"{text} AS {quote_text(item.text, '`')}"  # without an alias the text is the name of the field


def _source(source: ast.Source) -> str:
    read = f"({print_select(source.select)})" if isinstance(source, ast.Subselect) else _topic(source.name)
    return read + (f" AS {_ident(source.alias)}" if source.alias else "")


def _join(join: ast.JoinClause) -> str:
    text = f"{join.kind} JOIN {_source(join.source)}"
    if join.on is not None:
        text += f" ON {print_expression(join.on)}"
    return text + (f" WITHIN {_duration(join.within)}" if join.within else "")


def _modern_window(window: ast.WindowClause) -> str:
    advance = "" if window.advance is None else f",{_duration(window.advance)}"
    return f"{window.kind} {_duration(window.size)}{advance}"


def _legacy_window(window: ast.WindowClause) -> str:
    lengths = [window.size, *([window.advance] if window.advance else [])]
    return f"{window.kind}(" + ",".join(f"{length.amount},{length.unit}" for length in lengths) + ")"


# --- names ---

_QUOTE = "'"


def quote_text(text: str, quote: str) -> str:
    """The text in quotes; quotes inside it are doubled."""
    return quote + text.replace(quote, quote * 2) + quote


def _ident(name: ast.Ident) -> str:
    return quote_text(name.name, "`") if name.quoted or name.name.upper() in RESERVED else name.name


def _topic(name: ast.Ident) -> str:
    return quote_text(name.name, "`") if name.quoted else name.name


def _path(path: ast.NamePath) -> str:
    steps = (f".{_ident(step)}" if isinstance(step, ast.Ident) else f"[{step.position}]" for step in path.steps)
    return _ident(path.head) + "".join(steps)


def _duration(length: ast.DurationLiteral) -> str:
    return f"{length.amount}{length.unit}"


# --- expressions: each operator has brackets, so that precedence does not matter ---


@singledispatch
def print_expression(expr: ast.Expression) -> str:
    """The text of an expression."""
    raise TypeError(f"no such expression: {expr!r}")


@print_expression.register
def _(expr: ast.NamePath) -> str:
    return _path(expr)


@print_expression.register
def _(expr: ast.StringLiteral) -> str:
    return quote_text(expr.value, _QUOTE)


@print_expression.register
def _(expr: ast.NumberLiteral) -> str:
    return expr.text


@print_expression.register
def _(expr: ast.BooleanLiteral) -> str:
    return "TRUE" if expr.value else "FALSE"


@print_expression.register
def _(_: ast.NullLiteral) -> str:
    return "NULL"


@print_expression.register
def _(expr: ast.DurationLiteral) -> str:
    return _duration(expr)


@print_expression.register
def _(expr: ast.Unary) -> str:
    return f"({expr.op} {print_expression(expr.operand)})"


@print_expression.register
def _(expr: ast.Binary) -> str:
    return f"({print_expression(expr.left)} {expr.op} {print_expression(expr.right)})"


@print_expression.register
def _(expr: ast.Logical) -> str:
    return "(" + f" {expr.op} ".join(print_expression(operand) for operand in expr.operands) + ")"


@print_expression.register
def _(expr: ast.IsNull) -> str:
    return f"({print_expression(expr.operand)} IS {_not(expr.negated)}NULL)"


@print_expression.register
def _(expr: ast.Between) -> str:
    low, high = print_expression(expr.low), print_expression(expr.high)
    return f"({print_expression(expr.operand)} {_not(expr.negated)}BETWEEN {low} AND {high})"


@print_expression.register
def _(expr: ast.ArrayLiteral) -> str:
    return f"[{', '.join(print_expression(item) for item in expr.items)}]"


@print_expression.register
def _(expr: ast.InList) -> str:
    items = ", ".join(print_expression(item) for item in expr.items)
    return f"({print_expression(expr.operand)} {_not(expr.negated)}IN ({items}))"


@print_expression.register
def _(expr: ast.Like) -> str:
    return f"({print_expression(expr.operand)} {_not(expr.negated)}LIKE {print_expression(expr.pattern)})"


@print_expression.register
def _(expr: ast.CaseExpression) -> str:
    parts = ["CASE"] if expr.operand is None else ["CASE", print_expression(expr.operand)]
    parts += [f"WHEN {print_expression(when)} THEN {print_expression(then)}" for when, then in expr.branches]
    if expr.otherwise is not None:
        parts.append(f"ELSE {print_expression(expr.otherwise)}")
    return " ".join([*parts, "END"])


@print_expression.register
def _(expr: ast.Cast) -> str:
    return f"CAST({print_expression(expr.operand)} AS {print_type(expr.target)})"


@print_expression.register
def _(expr: ast.Call) -> str:
    args = ("*" if isinstance(arg, ast.Star) else print_expression(arg) for arg in expr.args)
    is_word = re.fullmatch(r"[^\W\d]\w*", expr.name) and expr.name.upper() not in RESERVED
    name = expr.name if is_word else quote_text(expr.name, "`")
    return f"{name}({', '.join(args)})"


def _not(negated: bool) -> str:
    return "NOT " if negated else ""
