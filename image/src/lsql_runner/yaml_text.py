"""Reads YAML 1.2: `no`, `12:30:45` and dates are text. A duplicate key is an error."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import yaml

from lsql_runner.errors import DetailError, DetailTable

_REASONS = DetailTable(
    {
        "KEY_DUPLICATE": "the key {key} occurs twice, in line {line}",
        "INVALID_LINE": "{problem} in line {line}",
        "INVALID": "{problem}",
    }
)


class YamlError(DetailError):
    """A text that is not YAML."""


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with the core schema of YAML 1.2."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  # PyYAML's own shape

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise YamlError(_REASONS("KEY_DUPLICATE", key=str(key), line=key_node.start_mark.line + 1))
            seen.add(key)
        return super().construct_mapping(node, deep)


for _tag, _pattern, _first in (
    ("null", r"(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"[-+]?[0-9]+$", list("-+0123456789")),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", list("-+0123456789.")),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _first)


def _whole(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    return int(loader.construct_scalar(node))


def _float(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float:
    return float(loader.construct_scalar(node))


_Loader.add_constructor("tag:yaml.org,2002:int", _whole)
_Loader.add_constructor("tag:yaml.org,2002:float", _float)


def load_yaml(text: str) -> Any:
    """The document as plain values.

    Raises:
        YamlError: the text is not YAML.
    """
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        problem, mark = str(error.problem or error.context), error.problem_mark
        if mark is None:
            raise YamlError(_REASONS("INVALID", problem=problem)) from None
        raise YamlError(_REASONS("INVALID_LINE", problem=problem, line=mark.line + 1)) from None
    except yaml.YAMLError as error:
        raise YamlError(_REASONS("INVALID", problem=str(error))) from None
