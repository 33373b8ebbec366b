"""Label selectors of Kubernetes, as the parameter `labelSelector` of a request has them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lsql_runner.errors import LsqlError

_KEY = r"[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?"
_VALUE = r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?"
_SET = re.compile(rf"(?P<key>{_KEY})\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)\Z")
_EQUAL = re.compile(rf"(?P<key>{_KEY})\s*(?P<operator>==?|!=)\s*(?P<value>{_VALUE})\Z")
_EXISTS = re.compile(rf"(?P<operator>!?)\s*(?P<key>{_KEY})\Z")
_VALUES = re.compile(rf"{_VALUE}\Z")
_BETWEEN = re.compile(r",(?![^()]*\))")
"""A comma that is not within parentheses."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement. Without values, the label only has to exist; negated, it may not have one of the values."""

    key: str
    values: frozenset[str] | None
    negated: bool = False

    def allows(self, labels: Mapping[str, str]) -> bool:
        matches = self.key in labels if self.values is None else labels.get(self.key) in self.values
        return matches != self.negated


def parse_selector(text: str) -> tuple[Requirement, ...]:
    """The requirements of a selector, which all have to be met; none for an empty text.

    Raises:
        LsqlError: SELECTOR_INVALID.
    """
    return tuple(_requirement(part.strip(), text) for part in _BETWEEN.split(text)) if text.strip() else ()


def _requirement(part: str, text: str) -> Requirement:
    if match := _SET.match(part):
        values = frozenset(value.strip() for value in match["values"].split(","))
        if all(map(_VALUES.match, values)):
            return Requirement(match["key"], values, negated=match["operator"] == "notin")
    elif match := _EQUAL.match(part):
        return Requirement(match["key"], frozenset([match["value"]]), negated=match["operator"] == "!=")
    elif match := _EXISTS.match(part):
        return Requirement(match["key"], None, negated=bool(match["operator"]))
    raise LsqlError("SELECTOR_INVALID", selector=text[:200], part=part[:100])
