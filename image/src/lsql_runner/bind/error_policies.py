"""SET error.policy: what happens to a record that cannot be read or written."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import cast

from lsql_runner.bind.expected import EXPECTED
from lsql_runner.errors import Detail, LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql.ast import SetStatement

Policy = OneOf["fail", "continue", "dlq"]
"""Stop the processor; skip the record and count it; send it to the dead letter queue and count it."""

_ALL, _READ, _WRITE = "error.policy", "error.policy.read", "error.policy.write"
_QUEUE = "dead.letter.queue"
POLICIES = (_ALL, _READ, _WRITE, _QUEUE)
"""The keys."""

_TOPIC = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True, slots=True)
class ErrorPolicies:
    """The policies for reading a record (decoding it and evaluating the program) and for writing the result."""

    read: Policy = "fail"
    write: Policy = "fail"
    queue: str | None = None
    """The topic of dead letters; set if and only if a policy is `dlq`."""
    queue_span: Span | None = field(default=None, compare=False)

    @property
    def handles_errors(self) -> bool:
        """Whether some errors do not stop the processor."""
        return (self.read, self.write) != ("fail", "fail")

    def __str__(self) -> str:
        queue = "" if self.queue is None else f", dead letters to {self.queue}"
        return f"read {self.read}, write {self.write}{queue}"


def bind_error_policies(statements: Mapping[str, SetStatement]) -> tuple[ErrorPolicies, tuple[str, ...]]:
    """The policies, and warnings.

    Args:
        statements: those of POLICIES that are set, by key.

    Raises:
        LsqlError: SETTING_INVALID, DEAD_LETTER_QUEUE_MISSING, at the value.
    """
    asked = {key: _policy(statements[key]) for key in (_ALL, _READ, _WRITE) if key in statements}
    otherwise = asked.get(_ALL, "fail")
    read, write = asked.get(_READ, otherwise), asked.get(_WRITE, otherwise)
    topic = statements.get(_QUEUE)
    if topic is not None and not _TOPIC.fullmatch(topic.value):
        raise _invalid(topic, EXPECTED("TOPIC_NAME"))
    if "dlq" not in (read, write):
        warned = () if topic is None else (f"SET {_QUEUE} has no effect: no error.policy is dlq.",)
        return ErrorPolicies(read, write), warned
    if topic is None:
        asking = next(s for key, s in statements.items() if s.value.lower() == "dlq")
        raise LsqlError("DEAD_LETTER_QUEUE_MISSING", asking.value_span, key=_QUEUE)
    return ErrorPolicies(read, write, topic.value, topic.value_span), ()


def check_queue(policies: ErrorPolicies, used: Collection[str]) -> None:
    """Check that dead letters have a topic of their own.

    Raises:
        LsqlError: DEAD_LETTER_QUEUE_USED, at the name.
    """
    if policies.queue is not None and policies.queue in used:
        raise LsqlError("DEAD_LETTER_QUEUE_USED", policies.queue_span, key=_QUEUE, topic=policies.queue)


def _policy(statement: SetStatement) -> Policy:
    if statement.value.lower() not in ("fail", "continue", "dlq"):
        raise _invalid(statement, EXPECTED("ONE_OF", known="fail, continue, dlq"))
    return cast(Policy, statement.value.lower())


def _invalid(statement: SetStatement, expected: Detail) -> LsqlError:
    return LsqlError(
        "SETTING_INVALID", statement.value_span, key=statement.key, value=statement.value, expected=expected
    )
