"""Values of a Kubernetes manifest, which may be malformed: a value of the wrong type reads as an empty one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

_REFERENCE = re.compile(r"\$\$|\$\((?P<name>[^)]*)\)")


def expand(value: str, known: Mapping[str, str]) -> str:
    """The value that the container gets: `$$` becomes `$`, `$(NAME)` becomes the value of an earlier variable."""

    def replace_variable(match: re.Match[str]) -> str:
        name = match["name"]
        return "$" if name is None else known.get(name, match[0])

    return _REFERENCE.sub(replace_variable, value)


class ContainerEnvironment:
    """The environment variables in the manifest of a container."""

    def __init__(self, env: object) -> None:
        self._values: dict[str, str] = {}
        self.referred: dict[str, str] = {}
        """Variables with `valueFrom`, and the kind of the source, such as `secretKeyRef`."""
        for item in as_mappings(env):
            name = as_text(item.get("name"))
            source = as_mapping(item.get("valueFrom"))
            if source:
                self.referred[name] = next(iter(source), "")
                self._values.pop(name, None)
            else:
                self._values[name] = expand(as_text(item.get("value")), self._values)
                self.referred.pop(name, None)

    def value(self, name: str) -> str | None:
        """The variable's value; None if it is not set, or if the manifest only refers to it."""
        return self._values.get(name)

    def has(self, name: str) -> bool:
        """Whether it is set: by a value, a reference or a file."""
        return bool(self._values.get(name)) or name in self.referred or f"{name}_FILE" in self._values


def image_version(image: str) -> str:
    """The tag of an image reference, else its digest, else empty."""
    name, _, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return tag or digest


def changed_by(metadata: Mapping[str, Any]) -> str:
    """The manager of the newest change, except changes of the status; empty if it is not known."""
    changes = [
        (at, as_text(entry.get("manager")))
        for entry in as_mappings(metadata.get("managedFields"))
        if not entry.get("subresource") and (at := as_time(entry.get("time"))) is not None
    ]
    return max(changes)[1] if changes else ""


def scaled_by(metadata: Mapping[str, Any]) -> str:
    """The manager of the number of replicas; empty if it is not known, as after a change by an autoscaler."""
    owners = [
        (at, as_text(entry.get("manager")))
        for entry in as_mappings(metadata.get("managedFields"))
        if "f:replicas" in as_mapping(as_mapping(entry.get("fieldsV1")).get("f:spec"))
        and (at := as_time(entry.get("time"))) is not None
    ]
    return max(owners)[1] if owners else ""


def as_time(value: object) -> datetime | None:
    """A time in UTC, from a datetime or from RFC 3339 text; None for any other value."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    try:
        return datetime.fromisoformat(as_text(value)).astimezone(UTC)
    except ValueError:
        return None


def labels_of(metadata: object) -> dict[str, str]:
    return as_strings(as_mapping(metadata).get("labels"))


def as_strings(value: object) -> dict[str, str]:
    return {str(k): v if isinstance(v, str) else "" for k, v in as_mapping(value).items()}


def as_mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def as_mappings(value: object) -> list[Mapping[str, Any]]:
    known: Sequence[object] = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
    return [item for item in known if isinstance(item, Mapping)]


def as_text(value: object) -> str:
    return value if isinstance(value, str) else ""
