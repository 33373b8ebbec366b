"""Finds in the source of the package the calls that make an error, by reading the syntax trees."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import lsql_runner

PACKAGE = Path(lsql_runner.__file__).parent
_PROSE = re.compile(r"[A-Za-z']{2,} [a-z]{2,}")
"""Two words with a space between them. SQL words are upper case; lists of names have commas."""


@dataclass(frozen=True, slots=True)
class ErrorCall:
    """A call that makes an error or replaces its parameters.

    Attributes:
        path: the file, within the package.
        code: None if it is not a literal.
        params: the expressions by parameter; None as a name stands for `**values`.
        scope: the function that contains the call, else the module.
    """

    path: str
    line: int
    code: str | None
    params: dict[str | None, ast.expr]
    scope: ast.AST

    def prose(self) -> Iterator[tuple[str, str]]:
        """Parameters whose values are English sentences, with the sentence."""
        for name, value in self.params.items():
            for text in _texts(value, self.scope, module(self.path), 0):
                if _PROSE.search(text):
                    yield str(name), text


@cache
def module(path: str) -> ast.Module:
    return ast.parse((PACKAGE / path).read_text(encoding="utf-8"))


@cache
def error_calls() -> tuple[ErrorCall, ...]:
    """All calls in the package."""
    found = []
    for file in sorted(PACKAGE.rglob("*.py")):
        path = file.relative_to(PACKAGE).as_posix()
        if not path.startswith("errors/"):
            found += list(_calls(path, module(path), module(path)))
    return tuple(found)


def strings() -> set[str]:
    """Every string of the package outside of its catalogue: codes may be constants, or data of a table."""
    found = set()
    for file in PACKAGE.rglob("*.py"):
        path = file.relative_to(PACKAGE).as_posix()
        if not path.startswith("errors/catalogue/"):
            nodes = ast.walk(module(path))
            found |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return found


def detail_tables() -> Iterator[tuple[str, str, set[str], set[str]]]:
    """File and name of each DetailTable, its codes, and the codes that modules use under that name."""
    tables: dict[str, list[tuple[str, set[str]]]] = {}
    used: dict[str, set[str]] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        path = file.relative_to(PACKAGE).as_posix()
        for node in ast.walk(module(path)):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _name(node.value) == "DetailTable":
                (rows,) = node.value.args
                assert isinstance(rows, ast.Dict)
                codes = {str(key.value) for key in rows.keys if isinstance(key, ast.Constant)}
                (target,) = node.targets
                assert isinstance(target, ast.Name)
                tables.setdefault(target.id, []).append((path, codes))
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                used.setdefault(f"{path} {_name(node)}", set()).add(str(node.args[0].value))
                used.setdefault(f"* {_name(node)}", set()).add(str(node.args[0].value))
            elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name):
                # The code is a variable: any string of the module outside of the table may be its value.
                used.setdefault(f"* {_name(node)}", set()).update(_strings_outside_tables(module(path)))
    for name, places in tables.items():
        for path, codes in places:
            # A private table is used in its module; a public one in any module that imports it.
            yield path, name, codes, used.get(f"{path if name.startswith('_') else '*'} {name}", set())


def _strings_outside_tables(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Call) and _name(child) == "DetailTable":
            continue
        if isinstance(child, ast.Constant) and isinstance(child.value, str) and child.value.isupper():
            found.add(child.value)
        found |= _strings_outside_tables(child)
    return found


def _calls(path: str, node: ast.AST, scope: ast.AST) -> Iterator[ErrorCall]:
    for child in ast.iter_child_nodes(node):
        inner = child if isinstance(child, ast.FunctionDef) else scope
        if isinstance(child, ast.Call) and (_name(child) == "LsqlError" or _name(child) in _makers(path)):
            first = child.args[0] if child.args and _name(child) == "LsqlError" else None
            code = first.value if isinstance(first, ast.Constant) else None
            params: dict[str | None, ast.expr] = {keyword.arg: keyword.value for keyword in child.keywords}
            if _name(child) != "LsqlError":  # a helper of the module: each of its arguments may become a parameter
                params |= {str(number): arg for number, arg in enumerate(child.args)}
            yield ErrorCall(path, child.lineno, code if isinstance(code, str) else None, params, scope)
        yield from _calls(path, child, inner)


@cache
def _makers(path: str) -> frozenset[str]:
    """`but`, and the functions of a module that return an error."""
    functions = [node for node in ast.walk(module(path)) if isinstance(node, ast.FunctionDef)]
    return frozenset(
        {"but"} | {f.name for f in functions if isinstance(f.returns, ast.Name) and f.returns.id == "LsqlError"}
    )


def _name(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _texts(value: ast.AST, scope: ast.AST, file: ast.Module, depth: int) -> Iterator[str]:
    """The texts that an expression may be: literals, f-strings, and those of the variables that it names."""
    match value:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "Xx" for part in parts)
        case ast.Call(func=ast.Attribute(value=text, attr=method), args=args):
            for part in [text, *(args if method == "join" else [])]:
                yield from _texts(part, scope, file, depth)
        case ast.Call():
            return  # the result of a function, such as a row of a DetailTable; its arguments are not the text
        case ast.Name(id=name) if depth < 3:
            for place in {scope, file}:
                nodes = ast.walk(place) if place is scope else iter(file.body)
                for node in nodes:
                    if isinstance(node, ast.Assign) and any(
                        isinstance(target, ast.Name) and target.id == name for target in node.targets
                    ):
                        yield from _texts(node.value, scope, file, depth + 1)
        case _:
            for child in ast.iter_child_nodes(value):
                yield from _texts(child, scope, file, depth)
