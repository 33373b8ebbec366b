"""Topic policies: which topics the programs of an installation may read and write.

The environment sets them, so they do not depend on who writes the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal as OneOf

from lsql_runner.bind.error_policies import ErrorPolicies
from lsql_runner.bind.settings import ProgramSettings
from lsql_runner.bind.sinks import named_sink
from lsql_runner.bind.source_formats import source_topics
from lsql_runner.errors import Detail, DetailError, DetailTable, LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql import ast

Use = OneOf["read", "write"]

_PATTERN = re.compile(r"[A-Za-z0-9._*?-]+")
_RULES = DetailTable(
    {
        "DENIED": "{variable} contains {pattern}",
        "NOT_ALLOWED": "no pattern of {variable} matches it",
    }
)
"""Which rule a topic breaks."""
_EXPECTED = DetailTable({"PATTERNS": "names of topics, separated by commas, with `*` and `?`"})


@dataclass(frozen=True, slots=True)
class TopicPolicy:
    """The topics that may be used in one way: those that a pattern of `allow` matches, or all if it is empty, without
    those that a pattern of `deny` matches.
    """

    use: Use
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def broken_rule(self, topic: str) -> Detail | None:
        """Why the topic is not allowed; None if it is."""
        denied = next((pattern for pattern in self.deny if fnmatchcase(topic, pattern)), None)
        if denied is not None:
            return _RULES("DENIED", variable=self._variable("DENY"), pattern=denied)
        if self.allow and not any(fnmatchcase(topic, pattern) for pattern in self.allow):
            return _RULES("NOT_ALLOWED", variable=self._variable("ALLOW"))
        return None

    def _variable(self, end: str) -> str:
        return f"LSQL_POLICY_{self.use.upper()}_{end}"


@dataclass(frozen=True, slots=True)
class TopicPolicies:
    """The policies of an installation; by default all topics are allowed."""

    read: TopicPolicy = TopicPolicy("read")
    write: TopicPolicy = TopicPolicy("write")

    def check(self, use: Use, topic: str, span: Span | None = None) -> None:
        """Check one topic.

        Raises:
            LsqlError: TOPIC_NOT_ALLOWED, at the span.
        """
        policy = self.read if use == "read" else self.write
        rule = policy.broken_rule(topic)
        if rule is not None:
            raise LsqlError("TOPIC_NOT_ALLOWED", span, use=use, topic=topic, rule=rule)


def patterns(text: str) -> tuple[str, ...]:
    """The patterns in the value of a variable.

    Raises:
        DetailError: a pattern has a character that no topic has.
    """
    patterns = tuple(pattern for pattern in re.split(r"[,\s]+", text) if pattern)
    if not all(_PATTERN.fullmatch(pattern) for pattern in patterns):
        raise DetailError(_EXPECTED("PATTERNS"))
    return patterns


def check_policies(
    program: ast.Program, settings: ProgramSettings, policies: TopicPolicies, sinks: Mapping[str, str]
) -> None:
    """Check all topics of a program: sources, targets that exist or are created, and the dead letter topic.

    Args:
        program: the program's syntax tree.
        settings: the values of its SET statements.
        policies: of the installation.
        sinks: the kinds of the configured sinks, by name.

    Raises:
        LsqlError: TOPIC_NOT_ALLOWED, at the first topic that is not allowed.
    """
    for topic, span in source_topics(program).items():
        policies.check("read", topic, span)
    for topic, place in _targets(program, settings.errors, sinks):
        policies.check("write", topic, place)


def _targets(
    program: ast.Program, errors: ErrorPolicies, sinks: Mapping[str, str]
) -> Iterator[tuple[str, Span | None]]:
    for insert in program.inserts:
        if insert.kcql is None and named_sink(insert.target.name, sinks) is None:
            yield insert.target.name, insert.target.span
    if errors.dead_letter_topic is not None:
        yield errors.dead_letter_topic, errors.dead_letter_topic_span
