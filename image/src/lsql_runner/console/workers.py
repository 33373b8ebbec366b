"""Reads the Deployment of a processor's workers from its manifest: pure, no cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lsql_runner.console.manifest import as_mapping, as_strings, as_text, scaled_by

COMPONENT_LABEL = "app.kubernetes.io/component"
WORKER = "worker"

Selector = tuple[tuple[str, str], ...]
"""The labels that select pods, sorted, without the component's label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkersDeployment:
    """The Deployment of the workers of one processor."""

    name: str
    namespace: str
    uid: str
    replicas: int
    processor: Selector
    """The selector of the processor's own pods."""
    scaled_by: str
    """The field manager that has set the number of replicas; empty if it is not known."""


def read_workers(deployment: Mapping[str, Any]) -> WorkersDeployment | None:
    """The workers of a Deployment; None if it is another Deployment.

    The chart gives workers the selector of their processor, with another component. A release of a chart with
    dependencies may have several processors.
    """
    metadata, spec = as_mapping(deployment.get("metadata")), as_mapping(deployment.get("spec"))
    labels = as_strings(as_mapping(spec.get("selector")).get("matchLabels"))
    if labels.get(COMPONENT_LABEL) != WORKER:
        return None
    replicas = spec.get("replicas")
    return WorkersDeployment(
        name=as_text(metadata.get("name")),
        namespace=as_text(metadata.get("namespace")),
        uid=as_text(metadata.get("uid")),
        replicas=replicas if isinstance(replicas, int) else 1,
        processor=without_component(labels.items()),
        scaled_by=scaled_by(metadata),
    )


def without_component(labels: Iterable[tuple[str, str]]) -> Selector:
    """The labels of a selector that a processor and its workers share."""
    return tuple(sorted(label for label in labels if label[0] != COMPONENT_LABEL))
