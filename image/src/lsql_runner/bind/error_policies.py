"""SET error.policy and late.records: what happens to a record that cannot be read or written, or that is late."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import cast

from lsql_runner.bind.expected import EXPECTED
from lsql_runner.bind.setting_values import invalid, one_of
from lsql_runner.errors import LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql.ast import SetStatement

Policy = OneOf["fail", "continue", "dlq"]
"""`fail` stops the processor. `continue` skips and counts the record. `dlq` also copies it to the dead letter topic."""

LatePolicy = OneOf["drop", "dlq"]
"""Late records are counted. `dlq` also copies them to the dead letter topic."""

_BOTH, _READ, _WRITE = "error.policy", "error.policy.read", "error.policy.write"
_LATE = "late.records"
_DEAD_LETTER_TOPIC = "dead.letter.queue"
POLICY_KEYS = (_BOTH, _READ, _WRITE, _LATE, _DEAD_LETTER_TOPIC)

TOPIC_NAME = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}")
"""The names of topics that Kafka allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorPolicies:
    """The policies for reading a record (decoding it and evaluating the program), writing the result, and records
    that are late for a window or a join of streams."""

    read: Policy = "fail"
    write: Policy = "fail"
    late: LatePolicy = "drop"
    dead_letter_topic: str | None = None
    """Set if and only if a policy is `dlq`."""
    dead_letter_topic_span: Span | None = field(default=None, compare=False)
    late_span: Span | None = field(default=None, compare=False)

    @property
    def handles_errors(self) -> bool:
        """Whether some errors do not stop the processor."""
        return (self.read, self.write) != ("fail", "fail")

    def __str__(self) -> str:
        dead_letters = "" if self.dead_letter_topic is None else f", dead letters to {self.dead_letter_topic}"
        late = "" if self.late == "drop" else f", late {self.late}"
        return f"read {self.read}, write {self.write}{late}{dead_letters}"


def bind_error_policies(statements: Mapping[str, SetStatement]) -> tuple[ErrorPolicies, tuple[str, ...]]:
    """The policies, and warnings.

    Args:
        statements: the SET statements with a key of POLICY_KEYS, by key.

    Raises:
        LsqlError: SETTING_INVALID, DEAD_LETTER_QUEUE_MISSING, at the value.
    """
    policies = {key: _policy(statements[key]) for key in (_BOTH, _READ, _WRITE) if key in statements}
    default = policies.get(_BOTH, "fail")
    read, write = policies.get(_READ, default), policies.get(_WRITE, default)
    late, late_span = _late_policy(statements.get(_LATE))
    topic = statements.get(_DEAD_LETTER_TOPIC)
    if topic is not None and not TOPIC_NAME.fullmatch(topic.value):
        raise invalid(topic, EXPECTED("TOPIC_NAME"))
    if "dlq" not in (read, write, late):
        warnings = () if topic is None else (f"SET {_DEAD_LETTER_TOPIC} has no effect: no policy is dlq.",)
        return ErrorPolicies(read=read, write=write), warnings
    if topic is None:
        dlq = next(s for key, s in statements.items() if s.value.lower() == "dlq")
        raise LsqlError("DEAD_LETTER_QUEUE_MISSING", dlq.value_span, key=_DEAD_LETTER_TOPIC)
    return ErrorPolicies(
        read=read,
        write=write,
        late=late,
        dead_letter_topic=topic.value,
        dead_letter_topic_span=topic.value_span,
        late_span=late_span,
    ), ()


def check_dead_letter_topic(policies: ErrorPolicies, program_topics: Collection[str]) -> None:
    """Check that the program neither reads nor writes the dead letter topic.

    Raises:
        LsqlError: DEAD_LETTER_QUEUE_USED, at the name of the topic.
    """
    topic = policies.dead_letter_topic
    if topic is not None and topic in program_topics:
        raise LsqlError("DEAD_LETTER_QUEUE_USED", policies.dead_letter_topic_span, key=_DEAD_LETTER_TOPIC, topic=topic)


def _policy(statement: SetStatement) -> Policy:
    return cast(Policy, one_of(statement, "fail", "continue", "dlq"))


def _late_policy(statement: SetStatement | None) -> tuple[LatePolicy, Span | None]:
    if statement is None:
        return "drop", None
    return cast(LatePolicy, one_of(statement, "drop", "dlq")), statement.value_span
