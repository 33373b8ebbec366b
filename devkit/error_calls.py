"""Finds the calls that create errors in the source of the package, by reading the syntax tree."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import lsql_runner

PACKAGE = Path(lsql_runner.__file__).parent
_PROSE = re.compile(r"[A-Za-z']{2,} [a-z]{2,}")
"""Two words with a blank between them. SQL keywords are upper case; lists of names have commas."""
_SENTENCES = ("reason", "expected", "instead", "way_out", "why")
"""Keywords of any call whose value is shown to users as a parameter of an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCall:
    """A call that creates an error, replaces its parameters, or gives a value to one of them.

    Attributes:
        path: the file, relative to the package.
        name: the called class or function.
        code: the code of an LsqlError; None if it is not a literal, and for other calls.
        params: the argument expressions by parameter; the key None stands for `**values`.
        scope: the function that contains the call, or the module.
    """

    path: str
    line: int
    name: str
    code: str | None
    params: dict[str | None, ast.expr]
    scope: ast.AST

    def prose(self) -> Iterator[tuple[str, str]]:
        """Parameters that contain English sentences: the name and the sentence."""
        for name, value in self.params.items():
            for text in _texts(value, self.scope, module(self.path), 0):
                if _PROSE.search(text):
                    yield str(name), text


@cache
def module(path: str) -> ast.Module:
    """The syntax tree of a file, by its path relative to the package."""
    return ast.parse((PACKAGE / path).read_text(encoding="utf-8"))


@cache
def _paths() -> tuple[str, ...]:
    return tuple(file.relative_to(PACKAGE).as_posix() for file in sorted(PACKAGE.rglob("*.py")))


@cache
def error_calls() -> tuple[ErrorCall, ...]:
    """The calls in all modules of the package except `errors`."""
    calls: list[ErrorCall] = []
    for path in _paths():
        if not path.startswith("errors/"):
            calls += _calls(path, module(path), module(path))
    return tuple(calls)


@cache
def exceptions() -> frozenset[str]:
    """Exception classes whose arguments may become parameters of an LsqlError: ValueError, and the package's own."""
    bases = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for path in _paths()
        for node in ast.walk(module(path))
        if isinstance(node, ast.ClassDef)
    }
    known = {"Exception", "ValueError"}
    while more := {name for name, of in bases.items() if of & known} - known:
        known |= more
    return frozenset(known - {"Exception", "LsqlError"})


def strings() -> set[str]:
    """All strings of the package outside of its catalogue: codes may be constants, or data of a table."""
    texts = set()
    for path in _paths():
        if not path.startswith("errors/catalogue/"):
            nodes = ast.walk(module(path))
            texts |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return texts


@cache
def _tables() -> dict[str, list[tuple[str, set[str]]]]:
    """By the name of a DetailTable: the files that define one of this name, and its codes."""
    tables: dict[str, list[tuple[str, set[str]]]] = {}
    for path in _paths():
        for node in ast.walk(module(path)):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _name(node.value) == "DetailTable":
                (rows,) = node.value.args
                assert isinstance(rows, ast.Dict)
                codes = {str(key.value) for key in rows.keys if isinstance(key, ast.Constant)}
                (target,) = node.targets
                assert isinstance(target, ast.Name)
                tables.setdefault(target.id, []).append((path, codes))
    return tables


def detail_tables() -> Iterator[tuple[str, str, set[str], set[str]]]:
    """File and name of each DetailTable, its codes, and the codes that modules use under that name."""
    used: dict[str, set[str]] = {}
    for path in _paths():
        for node in ast.walk(module(path)):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                used.setdefault(f"{path} {_name(node)}", set()).add(str(node.args[0].value))
                used.setdefault(f"* {_name(node)}", set()).add(str(node.args[0].value))
            elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name):
                # The code is a variable: any string of the module outside of the table may be its value.
                used.setdefault(f"* {_name(node)}", set()).update(_strings_outside_tables(module(path)))
    for name, definitions in _tables().items():
        for path, codes in definitions:
            # A private table is used in its module, a public one in any module.
            yield path, name, codes, used.get(f"{path if name.startswith('_') else '*'} {name}", set())


def _strings_outside_tables(tree: ast.AST) -> set[str]:
    texts: set[str] = set()
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Call) and _name(child) == "DetailTable":
            continue
        if isinstance(child, ast.Constant) and isinstance(child.value, str) and child.value.isupper():
            texts.add(child.value)
        texts |= _strings_outside_tables(child)
    return texts


def _calls(path: str, node: ast.AST, scope: ast.AST) -> Iterator[ErrorCall]:
    for child in ast.iter_child_nodes(node):
        inner = child if isinstance(child, ast.FunctionDef) else scope
        if isinstance(child, ast.Call):
            name = _name(child)
            params: dict[str | None, ast.expr] = {keyword.arg: keyword.value for keyword in child.keywords}
            code = None
            if name == "LsqlError":
                first = child.args[0] if child.args else None
                code = str(first.value) if isinstance(first, ast.Constant) else None
            elif name in _functions_with_errors(path) | exceptions():
                params |= {str(number): arg for number, arg in enumerate(child.args)}
            elif name not in _tables():
                params = {name: value for name, value in params.items() if name in _SENTENCES}
            if params or name == "LsqlError":
                yield ErrorCall(path=path, line=child.lineno, name=name, code=code, params=params, scope=scope)
        yield from _calls(path, child, inner)


@cache
def _functions_with_errors(path: str) -> frozenset[str]:
    """`but`, and the functions of a module that return or raise an error: their arguments may become parameters."""
    functions = [node for node in ast.walk(module(path)) if isinstance(node, ast.FunctionDef)]
    return frozenset(
        {"but"}
        | {f.name for f in functions if isinstance(f.returns, ast.Name) and f.returns.id in ("LsqlError", "NoReturn")}
    )


def _name(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _texts(value: ast.AST, scope: ast.AST, file: ast.Module, depth: int) -> Iterator[str]:
    """The possible texts of an expression: literals, f-strings, and the values of variables."""
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
