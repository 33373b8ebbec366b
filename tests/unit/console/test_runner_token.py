"""The Secret with the token of a runner, in manifests of workloads."""

from __future__ import annotations

from typing import Any

import pytest

from lsql_runner.console.manifest import ContainerEnvironment
from lsql_runner.console.runner_token import SecretKey, token_secret

FILE = "/etc/lsql-runner/credentials/api/token"
MOUNT = {"name": "credentials", "mountPath": "/etc/lsql-runner/credentials"}
STATE = {"name": "state", "mountPath": "/"}
ITEMS = [{"key": "other", "path": "kafka/password"}, {"key": "word", "path": "api/token"}]
PROJECTED = {
    "name": "credentials",
    "projected": {
        "sources": [
            {"configMap": {"name": "x", "items": ITEMS}},
            {"secret": {"name": "kafka", "items": ITEMS[:1]}},
            {"secret": {"name": "api", "items": ITEMS[1:]}},
        ]
    },
}


def token_in(env: list[Any], mounts: list[Any] | None = None, volumes: list[Any] | None = None) -> SecretKey | None:
    container = {"env": env, "volumeMounts": mounts or []}
    return token_secret(container, {"volumes": volumes or []}, ContainerEnvironment(env))


def in_file(path: str = FILE) -> list[Any]:
    return [{"name": "LSQL_API_TOKEN_FILE", "value": path}]


def test_a_variable_from_a_secret() -> None:
    source = {"secretKeyRef": {"name": "fast-api", "key": "token"}}

    assert token_in([{"name": "LSQL_API_TOKEN", "valueFrom": source}]) == SecretKey("fast-api", "token")


def test_a_file_of_a_projected_volume_as_the_chart_renders_it() -> None:
    assert token_in(in_file(), [STATE, MOUNT], [{"name": "state"}, PROJECTED]) == SecretKey("api", "word")


@pytest.mark.parametrize(
    ("volume", "path", "secret"),
    [
        ({"secretName": "api"}, "/run/api/token", SecretKey("api", "token")),
        ({"secretName": "api", "items": ITEMS}, "/run/api/api/token", SecretKey("api", "word")),
        ({"secretName": "api", "items": ITEMS}, "/run/api/token", None),
    ],
)
def test_a_file_of_a_secret_volume(volume: dict[str, Any], path: str, secret: SecretKey | None) -> None:
    mounts = [{"name": "api", "mountPath": "/run/api"}]

    assert token_in(in_file(path), mounts, [{"name": "api", "secret": volume}]) == secret


def test_a_single_mounted_file() -> None:
    mounts = [{"name": "credentials", "mountPath": "/run/token", "subPath": "api/token"}]

    assert token_in(in_file("/run/token"), mounts, [PROJECTED]) == SecretKey("api", "word")


@pytest.mark.parametrize(
    ("env", "mounts", "volumes"),
    [
        ([], [], []),
        ([{"name": "LSQL_API_TOKEN", "value": "in-the-manifest"}], [], []),
        ([{"name": "LSQL_API_TOKEN", "valueFrom": {"configMapKeyRef": {"name": "x", "key": "y"}}}], [], []),
        ([{"name": "LSQL_API_TOKEN", "valueFrom": "nonsense"}], [], []),
        (in_file(), [], [PROJECTED]),
        (in_file(), [MOUNT], []),
        (in_file(), [MOUNT], [{"name": "credentials", "emptyDir": {}}]),
        (in_file(), [{"name": "credentials", "mountPath": 7}], [PROJECTED]),
        (in_file("/elsewhere"), [MOUNT], [PROJECTED]),
    ],
)
def test_no_secret(env: list[Any], mounts: list[Any], volumes: list[Any]) -> None:
    assert token_in(env, mounts, volumes) is None
