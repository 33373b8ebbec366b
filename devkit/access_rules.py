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
from devkit.waiting import wait_until
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
    user: str = USER,
) -> None:
    """Allow a user operations on a resource."""
    fields = [(kind, name, pattern, f"User:{user}", "*", each, AclPermissionType.ALLOW) for each in operations]
    admin = _admin(broker)  # its futures fail when it is deleted
    for future in admin.create_acls([AclBinding(*each) for each in fields]).values():
        future.result(DEADLINE_S)
    for each in fields:
        _await_rules(admin, AclBindingFilter(*each), exist=True)


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
    for operation in acl.operations:
        granted = AclOperation[operation_of(operation)]
        rule = AclBindingFilter(kind, acl.name, pattern, f"User:{USER}", "*", granted, AclPermissionType.ALLOW)
        assert delete_rules(broker, rule) == 1


def delete_rules(broker: Broker, selection: AclBindingFilter) -> int:
    """Delete the rules that a filter selects, and return their number. AssertionError if there is none."""
    admin = _admin(broker)
    [future] = admin.delete_acls([selection]).values()
    deleted = future.result(DEADLINE_S)
    assert deleted, "the access rule did not exist"
    _await_rules(admin, selection, exist=False)
    return len(deleted)


def _await_rules(admin: AdminClient, selection: AclBindingFilter, *, exist: bool) -> None:
    """The controller answers a change of rules before the broker, which checks requests, has taken it over."""

    def changed() -> bool:
        return bool(admin.describe_acls(selection).result(DEADLINE_S)) == exist

    wait_until(changed, f"the change of {selection}", DEADLINE_S)


def _resource(acl: Acl) -> tuple[ResourceType, ResourcePatternType]:
    pattern = ResourcePatternType.PREFIXED if acl.prefixed else ResourcePatternType.LITERAL
    return ResourceType[acl.resource.upper().replace("-", "_")], pattern


def _admin(broker: Broker) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.bootstrap})
