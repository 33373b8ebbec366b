"""Finds the Secret with the token of a processor, in the manifest of its workload: pure, no cluster.

A runner gets its token as the variable LSQL_API_TOKEN with a `secretKeyRef`, or as a file of a mounted Secret: the
variable LSQL_API_TOKEN_FILE has its path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from lsql_runner.console.manifest import ContainerEnvironment, as_mapping, as_mappings, as_text

VARIABLE = "LSQL_API_TOKEN"


@dataclass(frozen=True, slots=True)
class SecretKey:
    """A key of a Secret in the namespace of the workload."""

    secret: str
    key: str


def token_secret(
    container: Mapping[str, Any], pod: Mapping[str, Any], variables: ContainerEnvironment
) -> SecretKey | None:
    """The Secret with the token; None if the runner has no token, or one that is not in a Secret.

    Args:
        container: of the runner.
        pod: the spec of its pod.
        variables: of the container.
    """
    for item in reversed(as_mappings(container.get("env"))):
        if item.get("name") == VARIABLE:
            source = as_mapping(as_mapping(item.get("valueFrom")).get("secretKeyRef"))
            return _secret_key(source.get("name"), source.get("key"))
    path = variables.value(f"{VARIABLE}_FILE")
    return _mounted_secret(path, container, pod) if path else None


def _mounted_secret(path: str, container: Mapping[str, Any], pod: Mapping[str, Any]) -> SecretKey | None:
    file = PurePosixPath(path)
    mounts = [mount for mount in as_mappings(container.get("volumeMounts")) if _is_below(file, mount)]
    if not mounts:
        return None
    mount = max(mounts, key=lambda it: len(PurePosixPath(as_text(it.get("mountPath"))).parts))
    inside = str(PurePosixPath(as_text(mount.get("subPath")), file.relative_to(as_text(mount.get("mountPath")))))
    for volume in as_mappings(pod.get("volumes")):
        if volume.get("name") == mount.get("name"):
            for secret, source in _secrets(volume):
                items = as_mappings(source.get("items"))
                key = next((item.get("key") for item in items if item.get("path") == inside), None)
                if key is not None or not items:
                    return _secret_key(secret, inside if key is None else key)
    return None


def _is_below(file: PurePosixPath, mount: Mapping[str, Any]) -> bool:
    folder = as_text(mount.get("mountPath"))
    return bool(folder) and file.is_relative_to(folder)


def _secrets(volume: Mapping[str, Any]) -> Iterator[tuple[object, Mapping[str, Any]]]:
    """Name and source of each Secret of a volume."""
    own = as_mapping(volume.get("secret"))
    if own:
        yield own.get("secretName"), own
    for source in as_mappings(as_mapping(volume.get("projected")).get("sources")):
        secret = as_mapping(source.get("secret"))
        if secret:
            yield secret.get("name"), secret


def _secret_key(secret: object, key: object) -> SecretKey | None:
    name, part = as_text(secret), as_text(key)
    return SecretKey(name, part) if name and part else None
