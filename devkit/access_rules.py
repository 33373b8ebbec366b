"""A user of a broker with access rules (ACLs): its credentials, and the rights that tests grant and revoke."""

from __future__ import annotations

from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from devkit.broker import Broker
from lsql_runner.kafka.rights import Acl, operation_of

USER, PASSWORD = "runner", "right"
DEADLINE_S = 30


def credentials(password: str = PASSWORD) -> dict[str, str]:
    """The variables of a processor that logs in as the user, at the listener `secured` of the broker."""
    login = "org.apache.kafka.common.security.plain.PlainLoginModule"
    return {
        "SECURITY_PROTOCOL": "SASL_PLAINTEXT",
        "SASL_MECHANISM": "PLAIN",
        "SASL_JAAS_CONFIG": f'{login} required username="{USER}" password="{password}";',
    }


def allow(
    broker: Broker,
    kind: ResourceType,
    name: str,
    *operations: AclOperation,
    pattern: ResourcePatternType = ResourcePatternType.LITERAL,
) -> None:
    """Allow the user operations on a resource."""
    rules = [
        AclBinding(kind, name, pattern, f"User:{USER}", "*", operation, AclPermissionType.ALLOW)
        for operation in operations
    ]
    admin = _admin(broker)  # its futures fail when it is deleted
    for future in admin.create_acls(rules).values():
        future.result(DEADLINE_S)


def grant(broker: Broker, acl: Acl) -> None:
    """Grant the user a right of a program."""
    kind, pattern = _resource(acl)
    allow(
        broker,
        kind,
        acl.name,
        *(AclOperation[operation_of(operation)] for operation in acl.operations),
        pattern=pattern,
    )


def revoke(broker: Broker, acl: Acl) -> None:
    """Remove the right again."""
    kind, pattern = _resource(acl)
    rules = [
        AclBindingFilter(
            kind, acl.name, pattern, f"User:{USER}", "*", AclOperation[operation_of(operation)], AclPermissionType.ALLOW
        )
        for operation in acl.operations
    ]
    admin = _admin(broker)
    for future in admin.delete_acls(rules).values():
        assert len(future.result(DEADLINE_S)) == 1


def _resource(acl: Acl) -> tuple[ResourceType, ResourcePatternType]:
    pattern = ResourcePatternType.PREFIXED if acl.prefixed else ResourcePatternType.LITERAL
    return ResourceType[acl.resource.upper().replace("-", "_")], pattern


def _admin(broker: Broker) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.bootstrap})
