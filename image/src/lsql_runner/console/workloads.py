"""Reads a processor from the manifest of its Deployment or StatefulSet: pure, no cluster.

workload (dict) -> [ read_processor ] -> ProcessorWorkload, with the rules that it violates
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from lsql_runner.console.manifest import (
    ContainerEnvironment,
    as_mapping,
    as_mappings,
    as_strings,
    as_text,
    as_time,
    changed_by,
    image_version,
    labels_of,
)
from lsql_runner.console.runner_token import SecretKey, token_secret
from lsql_runner.console.workers import WorkersDeployment

Kind = Literal["Deployment", "StatefulSet"]
KINDS: tuple[Kind, ...] = ("Deployment", "StatefulSet")
WorkloadKey = tuple[str, str, str]
"""Namespace, kind and name of a workload."""

PROCESSOR_LABEL = ("lenses", "lenses-processor")
"""The label of processors, name and value. The console lists every workload that has it."""
LEGACY_LABEL = "lenses.io/app.type"
"""The label of the old public chart."""
ID_LABEL = "lenses-id"
CHART = "lsql-runner"
PORT = 8083

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z")
_NAME_CHARS = 63
_ID = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?\Z")
_CHART_LABEL = re.compile(r"(?P<name>.+?)-(?P<version>v?\d+\..*)\Z")
_REQUIRED = ("SQL_BOOTSTRAP_SERVERS", "SQL_APP_ID")


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that a workload violates: a code and a sentence. docs/guides/console.md lists the codes."""

    code: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessorWorkload:
    """A processor as its workload describes it."""

    name: str
    namespace: str
    kind: Kind
    uid: str
    version: str
    """The workload's resourceVersion: a patch that names it fails if another client changed it first."""
    id: str | None
    user: str
    pipeline: str
    release: str
    chart: str
    chart_version: str
    image: str
    image_version: str
    sql: str | None
    """None if the manifest does not contain the program as a value."""
    sql_chars: int
    app_id: str
    bootstrap_servers: str
    port: int
    runners: int
    created: Literal["inside", "outside"]
    """Inside: created by this project's chart."""
    created_by: str
    created_at: datetime | None
    legacy: bool
    violations: tuple[Violation, ...]
    changed_by: str = ""
    """The field manager that last changed the workload, for example `helm`."""
    pod_labels: tuple[tuple[str, str], ...] = ()
    """The selector of its pods."""
    container: str = ""
    token_secret: SecretKey | None = None
    """The Secret with the token for POST /stop and POST /start."""
    workers: WorkersDeployment | None = None
    """The Deployment of its workers; None if it has none."""

    @property
    def key(self) -> WorkloadKey:
        return (self.namespace, self.kind, self.name)

    def with_violations(self, *added: Violation) -> ProcessorWorkload:
        """A copy with these violations added."""
        return replace(self, violations=(*self.violations, *added))

    def with_workers(self, workers: WorkersDeployment | None) -> ProcessorWorkload:
        """A copy with these workers."""
        return replace(self, workers=workers)

    def with_sql_limit(self, chars: int) -> ProcessorWorkload:
        """A copy with at most the first `chars` characters of the program; `sql_chars` does not change."""
        return self if self.sql is None or len(self.sql) <= chars else replace(self, sql=self.sql[:chars])


def is_processor(workload: Mapping[str, Any]) -> bool:
    """Whether the workload carries the label of a processor, or the old chart's."""
    labels = labels_of(workload.get("metadata"))
    return _has_processor_label(labels) or LEGACY_LABEL in labels


def read_processor(workload: Mapping[str, Any], kind: Kind) -> ProcessorWorkload:
    """The processor of a workload. Missing or malformed fields become violations; no exception is raised."""
    metadata, spec = as_mapping(workload.get("metadata")), as_mapping(workload.get("spec"))
    template = as_mapping(spec.get("template"))
    labels, annotations = labels_of(metadata), as_strings(metadata.get("annotations"))
    pod_labels = labels_of(template.get("metadata"))
    container = _runner(as_mapping(template.get("spec")).get("containers"))
    variables = ContainerEnvironment(container.get("env"))
    image = as_text(container.get("image"))
    chart, chart_version = _chart(labels)
    created_by = _creator(labels, annotations, metadata, chart)
    legacy = not _has_processor_label(labels)
    runners = spec.get("replicas")
    processor = ProcessorWorkload(
        name=as_text(metadata.get("name")),
        namespace=as_text(metadata.get("namespace")),
        kind=kind,
        uid=as_text(metadata.get("uid")),
        version=as_text(metadata.get("resourceVersion")),
        id=labels.get(ID_LABEL) or None,
        user=labels.get("lenses-user") or labels.get("lenses.io/lenses-user", ""),
        pipeline=pod_labels.get("pipeline") or labels.get("pipeline", ""),
        release=annotations.get("meta.helm.sh/release-name") or labels.get("app.kubernetes.io/instance", ""),
        chart=chart,
        chart_version=chart_version,
        image=image,
        image_version=image_version(image),
        sql=variables.value("SQL"),
        sql_chars=len(variables.value("SQL") or ""),
        app_id=variables.value("SQL_APP_ID") or "",
        bootstrap_servers=variables.value("SQL_BOOTSTRAP_SERVERS") or "",
        port=_port(variables.value("SQL_PORT")),
        runners=runners if isinstance(runners, int) else 1,
        created="inside" if created_by == CHART else "outside",
        created_by=created_by,
        created_at=as_time(metadata.get("creationTimestamp")),
        legacy=legacy,
        violations=(),
        changed_by=changed_by(metadata),
        pod_labels=tuple(sorted(as_strings(as_mapping(spec.get("selector")).get("matchLabels")).items())),
        container=as_text(container.get("name")),
        token_secret=token_secret(container, as_mapping(template.get("spec")), variables),
    )
    return processor.with_violations(*_violations(processor, labels, container, variables))


def compare(processors: Iterable[ProcessorWorkload]) -> list[ProcessorWorkload]:
    """The processors, with violations added where two share an id or an app id."""
    known = list(processors)
    ids = _find_shared((p.id, p) for p in known)
    groups = _find_shared(((p.app_id, p.bootstrap_servers) if p.app_id else None, p) for p in known if p.runners)
    result = []
    for processor in known:
        additional = []
        if others := ids.get(processor.key):
            additional.append(
                Violation("id-shared", f"The id is shared with {others}: remove the label from the copy.")
            )
        if others := groups.get(processor.key):
            text = f"SQL_APP_ID is shared with {others}: all of them read as one consumer group."
            additional.append(Violation("app-id-shared", text))
        result.append(processor.with_violations(*additional))
    return result


def _violations(
    p: ProcessorWorkload,
    labels: Mapping[str, str],
    container: Mapping[str, Any],
    variables: ContainerEnvironment,
) -> Iterable[Violation]:
    if len(p.name) > _NAME_CHARS or not _NAME.match(p.name):
        rule = f"lower-case letters, digits and `-`, at most {_NAME_CHARS} of them"
        yield Violation("name", f"The name {p.name} is not {rule}.")
    if not container:
        yield Violation("container", "The pod has no container.")
        return
    ports = [port.get("containerPort") for port in as_mappings(container.get("ports"))]
    if PORT not in ports:
        yield Violation("port", f"The container {p.container} does not name port {PORT}.")
    if "SQL" in variables.referred:
        source = variables.referred["SQL"]
        yield Violation("sql-elsewhere", f"SQL comes from {source}: put the program into the workload as a value.")
    elif variables.has("SQL") and p.sql is None:
        yield Violation("sql-elsewhere", "SQL comes from a file: put the program into the workload as a value.")
    elif not (p.sql or "").strip():
        yield Violation("sql-missing", "The variable SQL is not set.")
    for name in _REQUIRED:
        if not variables.has(name):
            yield Violation(name.lower().replace("_", "-") + "-missing", f"The variable {name} is not set.")
    if p.id is not None and not _ID.match(p.id):
        yield Violation("id", f"The id {p.id} is not a valid label value.")
    if p.runners > 1 and not variables.has("LSQL_LEASE"):
        yield Violation("replicas", f"{p.runners} replicas: each would read and write everything.")
    if p.legacy:
        return
    if labels.get("app") != p.name:
        yield Violation("label-app", f"The label app is {labels.get('app') or 'missing'}, not {p.name}.")


def _find_shared(pairs: Iterable[tuple[object, ProcessorWorkload]]) -> dict[WorkloadKey, str]:
    """The processors that share a value with others: by key, the names of up to three others."""
    by_value: dict[object, list[ProcessorWorkload]] = {}
    for value, processor in pairs:
        if value is not None:
            by_value.setdefault(value, []).append(processor)
    sharers = {}
    for same in by_value.values():
        if len(same) > 1:
            for processor in same:
                others = [f"{p.namespace}/{p.name}" for p in same if p.key != processor.key]
                more = f" and {len(others) - 3} more" if len(others) > 3 else ""
                sharers[processor.key] = ", ".join(others[:3]) + more
    return sharers


def _has_processor_label(labels: Mapping[str, str]) -> bool:
    name, value = PROCESSOR_LABEL
    return labels.get(name) == value


def _runner(containers: object) -> Mapping[str, Any]:
    """The container that runs the program: the first with SQL or SQL_FILE, else with the port, else the first."""
    known = as_mappings(containers)
    for container in known:
        if any(item.get("name") in ("SQL", "SQL_FILE") for item in as_mappings(container.get("env"))):
            return container
    for container in known:
        if any(port.get("containerPort") == PORT for port in as_mappings(container.get("ports"))):
            return container
    return known[0] if known else {}


def _chart(labels: Mapping[str, str]) -> tuple[str, str]:
    text = labels.get("helm.sh/chart") or labels.get("chart", "")
    if match := _CHART_LABEL.match(text):
        return match["name"], match["version"]
    return text or labels.get("lenses.io/chart.name", ""), labels.get("lenses.io/chart.version", "")


def _creator(labels: Mapping[str, str], annotations: Mapping[str, str], metadata: Mapping[str, Any], chart: str) -> str:
    by_helm = labels.get("app.kubernetes.io/managed-by") == "Helm" or "meta.helm.sh/release-name" in annotations
    if by_helm or labels.get("heritage") in ("Helm", "Tiller"):
        # A dependency with an alias has the alias as its chart name; the component label stays.
        aliased = labels.get("app.kubernetes.io/component") == "processor" and _has_processor_label(labels)
        return CHART if chart == CHART or aliased else "helm"
    managers = [as_text(entry.get("manager")) for entry in as_mappings(metadata.get("managedFields"))]
    applied = "kubectl.kubernetes.io/last-applied-configuration" in annotations
    if applied or any(manager.startswith("kubectl") for manager in managers):
        return "kubectl"
    return "unknown"


def _port(value: str | None) -> int:
    return int(value) if value and value.isdecimal() and 0 < int(value) < 65_536 else PORT
