"""The rights of a client on its brokers: as data, as commands of kafka-acls, and compared with those that it has."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lsql_runner.errors import Detail
from lsql_runner.kafka.ports import Right
from lsql_runner.kafka.reasons import RIGHTS

Resource = Literal["topic", "group", "transactional-id"]
"""The kinds of resources, as kafka-acls names its options."""


@dataclass(frozen=True, slots=True)
class Acl:
    """Operations that a client needs on one resource, or on all whose names begin with `name`."""

    resource: Resource
    name: str
    operations: tuple[Right | Literal["Create"], ...]
    """Read and Write include Describe."""
    prefixed: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "resourceType": self.resource,
            "name": self.name,
            "patternType": "prefixed" if self.prefixed else "literal",
            "operations": list(self.operations),
        }


def acl_commands(acls: Iterable[Acl], servers: str, principal: str) -> tuple[str, ...]:
    """The commands of kafka-acls that grant the rights, for a shell.

    Args:
        acls: the rights.
        servers: `host:port,...`; empty: the commands use the variable BOOTSTRAP_SERVERS.
        principal: as `User:name`; empty: the commands use the variable PRINCIPAL.
    """
    server = shlex.quote(servers) if servers else '"$BOOTSTRAP_SERVERS"'
    user = shlex.quote(principal) if principal else '"$PRINCIPAL"'
    start = f"kafka-acls --bootstrap-server {server} --add --allow-principal {user}"
    return tuple(f"{start} {_options(acl)}" for acl in acls)


def _options(acl: Acl) -> str:
    operations = " ".join(f"--operation {operation}" for operation in acl.operations)
    pattern = " --resource-pattern-type prefixed" if acl.prefixed else ""
    return f"{operations} --{acl.resource} {shlex.quote(acl.name)}{pattern}"


def missing_rights(needed: Mapping[str, Collection[Right]], granted: Mapping[str, Collection[str]]) -> Detail | None:
    """The missing rights on the first topic on which rights are missing, as a reason; None if none is missing.

    Args:
        needed: the rights by topic.
        granted: the operations that are allowed, by topic, as the protocol names them (`READ`). Topics that are not in
            it are not checked.
    """
    for topic, rights in needed.items():
        missing = [right for right in sorted(rights) if topic in granted and operation_of(right) not in granted[topic]]
        if missing:
            return RIGHTS("TOPIC", rights=", ".join(missing), topic=topic)
    return None


def operation_of(right: str) -> str:
    """The name of a right in the protocol: `DESCRIBE_CONFIGS` for DescribeConfigs."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", right).upper()
