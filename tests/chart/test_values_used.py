"""Every value is used in a template, and every value that a template uses exists."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
import yaml

from devkit.helm import CHART, CONSOLE_CHART

CHARTS = {chart.name: chart for chart in (CHART, CONSOLE_CHART)}
VALUES = {name: yaml.safe_load((chart / "values.yaml").read_text(encoding="utf-8")) for name, chart in CHARTS.items()}
ACTION = re.compile(r"\{\{-?(?!-? ?/\*)(.*?)-?\}\}", re.DOTALL)
STRING = re.compile(r'"(?:\\.|[^"\\])*"|`[^`]*`')
ASSIGNED = re.compile(r"\$(\w+)\s*:?=\s*(.*)", re.DOTALL)
WORD = re.compile(r"(?<![\w.$)])(\$\w*|)((?:\.\w+)+|\.)?(?![\w(])")

ValuePath = tuple[str, ...]
ROOT_OBJECT: ValuePath = ("<root>",)


@dataclass
class Scope:
    """The values of the dot and of variables at a point of a template; None if this test cannot determine them."""

    dot: ValuePath | None = ROOT_OBJECT
    variables: dict[str, ValuePath | None] = field(default_factory=lambda: {"$": ROOT_OBJECT})


def resolve(word: str, scope: Scope) -> ValuePath | None:
    """The path in the values of a word in a template, such as `.Values.a.b`, `$.Values.a`, `.b`, `$a.b`."""
    head, _, rest = word.partition(".")
    keys = tuple(key for key in rest.split(".") if key)
    base = scope.variables.get(head) if head else scope.dot
    if "Values" in keys[:2] and keys[0] in {"Values", "root"}:
        # Named templates that are called with a dict have the root in `.root`.
        return keys[keys.index("Values") + 1 :]
    return None if base is None or base == ROOT_OBJECT else base + keys


def words(expression: str) -> Iterator[str]:
    for match in WORD.finditer(STRING.sub('""', expression)):
        if match[0]:
            yield match[0]


def used_paths(text: str) -> Iterator[tuple[ValuePath, bool]]:
    """The values that a template uses: the path, and whether it uses everything below the path."""
    scope = Scope()
    outer: list[ValuePath | None] = []
    for action in ACTION.finditer(text):
        keyword, _, rest = action[1].strip().partition(" ")
        if keyword == "end":
            scope.dot = outer.pop()
            continue
        if keyword == "define":
            outer.append(scope.dot)
            scope = Scope(variables={"$": ROOT_OBJECT})
            continue
        expression = action[1].strip() if keyword not in {"with", "range", "if", "else"} else rest
        assigned = ASSIGNED.match(expression)
        target = assigned[2].strip() if assigned else expression
        alone = resolve(target, scope) if WORD.fullmatch(target) else None
        step = alone is not None and (assigned is not None or keyword == "with")
        for word in words(target):
            path = resolve(word, scope)
            if path:
                yield path, not step
        if assigned:
            scope.variables[f"${assigned[1]}"] = alone
        if keyword in {"with", "range", "if"}:
            outer.append(scope.dot)
            if keyword != "if":
                scope.dot = alone if keyword == "with" else None


def scalars(values: object, path: ValuePath = ()) -> Iterator[ValuePath]:
    if isinstance(values, dict) and values:
        for key, value in values.items():
            yield from scalars(value, (*path, key))
    else:
        yield path


def exists(chart: str, path: ValuePath) -> bool:
    values = VALUES[chart]
    for key in path:
        if not isinstance(values, dict):
            return False
        if not values:
            return True  # a map whose keys the user chooses
        if key not in values:
            return False
        values = values[key]
    return True


USED = {
    name: [
        (template.name, *use)
        for template in sorted((chart / "templates").rglob("*"))
        if template.is_file()
        for use in used_paths(template.read_text(encoding="utf-8"))
    ]
    for name, chart in CHARTS.items()
}


@pytest.mark.parametrize("chart", CHARTS)
def test_every_value_that_a_template_uses_exists(chart: str) -> None:
    assert USED[chart]
    assert {f"{file}: {'.'.join(path)}" for file, path, _ in USED[chart] if not exists(chart, path)} == set()


@pytest.mark.parametrize("chart", CHARTS)
def test_every_value_is_used(chart: str) -> None:
    def is_used(scalar: ValuePath) -> bool:
        return any(scalar[: len(path)] == path if whole else scalar == path for _, path, whole in USED[chart])

    assert [".".join(scalar) for scalar in scalars(VALUES[chart]) if not is_used(scalar)] == []


def test_a_value_that_does_not_exist_is_detected() -> None:
    text = "{{ with .Values.kafka.tls }}{{ .nope }}{{ end }}{{ $sasl := .Values.kafka.sasl }}{{ $sasl.neither.a }}"
    assert [path for path, _ in used_paths(text) if not exists(CHART.name, path)] == [
        ("kafka", "tls", "nope"),
        ("kafka", "sasl", "neither", "a"),
    ]
