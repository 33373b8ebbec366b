"""Only Secrets have the credentials of the values.

`kubectl describe` and `kubectl get` show all other objects to those who may not read Secrets. What the cluster adds to
them, events and the end of containers, is in tests/cluster.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from devkit.helm import CHART, Object, render

CREDENTIALS = ("password", "privateKey", "privateKeyPassword", "clientSecret", "keytab")
"""Names of values that are credentials; a certificate is not one."""
INLINE = {
    "sinks": {"shop": {"url": "jdbc:postgresql://db:5432/shop", "username": "shop", "password": ""}},
    "schemaRegistry": {"url": "https://registry:8081", "username": "registry-user"},
}
MECHANISMS: dict[str, dict[str, Any]] = {
    "PLAIN": {"mechanism": "PLAIN", "username": "runner"},
    "SCRAM-SHA-512": {"mechanism": "SCRAM-SHA-512", "username": "runner"},
    "OAUTHBEARER": {
        "mechanism": "OAUTHBEARER",
        "oauthbearer": {"clientId": "runner", "tokenEndpointUrl": "https://login.example.com/token"},
    },
    "GSSAPI": {"mechanism": "GSSAPI", "gssapi": {"principal": "runner@EXAMPLE.COM"}},
}
USED: dict[str, tuple[str, ...]] = {
    "PLAIN": ("password",),
    "SCRAM-SHA-512": ("password",),
    "OAUTHBEARER": ("clientSecret",),
    "GSSAPI": ("keytab",),
}
"""Credentials in `kafka.sasl` by mechanism."""


def leaves(values: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of all values that are credentials."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from leaves(value, (*path, name))
        elif name in CREDENTIALS:
            yield (*path, name)


def with_secrets(mechanism: str) -> tuple[dict[str, Any], list[str]]:
    """The values of a release that has every credential in its values, and the credentials."""
    defaults = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    values: dict[str, Any] = {
        "sql": "INSERT INTO fast SELECT STREAM * FROM vehicles",
        "kafka": {"bootstrapServers": "SASL_SSL://kafka:9093", "sasl": MECHANISMS[mechanism]},
        **INLINE,
    }
    planted = []
    for path in [*leaves(defaults), *leaves(INLINE)]:
        if path[:2] == ("kafka", "sasl") and path[-1] not in USED[mechanism]:
            continue
        secret = f"s3cr3t-{'-'.join(path)}"
        shown = base64.b64encode(secret.encode()).decode() if path[-1] == "keytab" else secret
        put(values, path, shown)
        planted.append(secret)
    for tls in (("kafka", "tls"), ("schemaRegistry", "tls")):
        put(values, (*tls, "client", "certificate"), "a certificate")
    return values, planted


def put(values: dict[str, Any], path: tuple[str, ...], value: str) -> None:
    for name in path[:-1]:
        values[name] = dict(values.get(name, {}))
        values = values[name]
    values[path[-1]] = value


def forms(secret: str) -> tuple[str, str]:
    return secret, base64.b64encode(secret.encode()).decode()


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("kind", ["StatefulSet", "Deployment"])
def test_no_object_but_a_secret_has_a_credential(mechanism: str, kind: str) -> None:
    values, planted = with_secrets(mechanism)
    objects: list[Object] = render(values | {"workload": {"kind": kind}})
    secrets = yaml.safe_dump([manifest for manifest in objects if manifest["kind"] == "Secret"], width=10_000)
    others = yaml.safe_dump([manifest for manifest in objects if manifest["kind"] != "Secret"], width=10_000)

    assert [each for each in planted if any(form in others for form in forms(each))] == []
    assert [each for each in planted if not any(form in secrets for form in forms(each))] == []


def test_a_credential_that_changes_restarts_processor_and_workers() -> None:
    values: dict[str, Any] = {
        "sql": "INSERT INTO fast SELECT STREAM * FROM vehicles",
        "kafka": {"bootstrapServers": "SASL_SSL://kafka:9093", "sasl": MECHANISMS["PLAIN"] | {"password": "before"}},
        "persistence": {"accessModes": ["ReadWriteMany"]},
        "workers": {"replicas": 1},
    }

    def checksums() -> list[str]:
        templates = [manifest["spec"]["template"] for manifest in render(values) if manifest["kind"] in POD_OWNERS]
        return [each["metadata"]["annotations"]["checksum/credentials"] for each in templates]

    before = checksums()
    values["kafka"]["sasl"]["password"] = "after"
    after = checksums()

    assert len(before) == len(POD_OWNERS)
    assert len(set(before)) == len(set(after)) == 1
    assert before != after


POD_OWNERS = ("StatefulSet", "Deployment")
"""The processor, and its workers."""
