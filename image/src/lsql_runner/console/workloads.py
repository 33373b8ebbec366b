"""From a Deployment or StatefulSet as plain data to the processor that it runs: pure, no cluster.

workload (dict) -> [ read_processor ] -> Processor, with each way in which it breaks the contract
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

Kind = Literal["Deployment", "StatefulSet"]
KINDS: tuple[Kind, ...] = ("Deployment", "StatefulSet")

MARK = ("lenses", "lenses-processor")
"""The label that makes a workload a processor, whatever created it."""
LEGACY_LABEL = "lenses.io/app.type"
"""The label of the old public chart."""
ID_LABEL = "lenses-id"
CHART = "lsql-runner"
PORT = 8083

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z")
_NAME_CHARS = 63
_ID = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?\Z")
_CHART_LABEL = re.compile(r"(?P<name>.+?)-(?P<version>v?\d+\..*)\Z")
_REFERENCE = re.compile(r"\$\$|\$\((?P<name>[^)]*)\)")
_NEEDED = ("SQL_BOOTSTRAP_SERVERS", "SQL_APP_ID")


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a workload breaks the contract: a code and a sentence."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
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
    """Null where the workload does not hold it as a value."""
    sql_chars: int
    app_id: str
    bootstrap_servers: str
    port: int
    runners: int
    created: Literal["inside", "outside"]
    """Inside: by this project's chart."""
    created_by: str
    created_at: datetime | None
    legacy: bool
    violations: tuple[Violation, ...]
    pod_labels: tuple[tuple[str, str], ...] = ()
    """The selector of its pods."""
    container: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        return (self.namespace, self.kind, self.name)

    def also(self, *found: Violation) -> ProcessorWorkload:
        """The same with more violations."""
        return replace(self, violations=(*self.violations, *found))

    def with_sql_of(self, chars: int) -> ProcessorWorkload:
        """The same with the first `chars` characters of its program; `sql_chars` stays."""
        return self if self.sql is None or len(self.sql) <= chars else replace(self, sql=self.sql[:chars])


def is_processor(workload: Mapping[str, Any]) -> bool:
    """Whether the workload carries the label of a processor, or the old chart's."""
    labels = _labels(workload.get("metadata"))
    return labels.get(MARK[0]) == MARK[1] or LEGACY_LABEL in labels


def read_processor(workload: Mapping[str, Any], kind: Kind) -> ProcessorWorkload:
    """The processor of a workload; missing or malformed parts become violations, never exceptions."""
    metadata, spec = _mapping(workload.get("metadata")), _mapping(workload.get("spec"))
    template = _mapping(spec.get("template"))
    labels, annotations = _labels(metadata), _strings(metadata.get("annotations"))
    pod_labels = _labels(template.get("metadata"))
    container = _runner(_mapping(template.get("spec")).get("containers"))
    variables = _Variables(container.get("env"))
    image = _text(container.get("image"))
    chart, chart_version = _chart(labels)
    created_by = _created_by(labels, annotations, metadata, chart)
    legacy = labels.get(MARK[0]) != MARK[1]
    runners = spec.get("replicas")
    found = ProcessorWorkload(
        name=_text(metadata.get("name")),
        namespace=_text(metadata.get("namespace")),
        kind=kind,
        uid=_text(metadata.get("uid")),
        version=_text(metadata.get("resourceVersion")),
        id=labels.get(ID_LABEL) or None,
        user=labels.get("lenses-user") or labels.get("lenses.io/lenses-user", ""),
        pipeline=pod_labels.get("pipeline") or labels.get("pipeline", ""),
        release=annotations.get("meta.helm.sh/release-name") or labels.get("app.kubernetes.io/instance", ""),
        chart=chart,
        chart_version=chart_version,
        image=image,
        image_version=_image_version(image),
        sql=variables.value("SQL"),
        sql_chars=len(variables.value("SQL") or ""),
        app_id=variables.value("SQL_APP_ID") or "",
        bootstrap_servers=variables.value("SQL_BOOTSTRAP_SERVERS") or "",
        port=_port(variables.value("SQL_PORT")),
        runners=runners if isinstance(runners, int) else 1,
        created="inside" if created_by == CHART else "outside",
        created_by=created_by,
        created_at=_moment(metadata.get("creationTimestamp")),
        legacy=legacy,
        violations=(),
        pod_labels=tuple(sorted(_strings(_mapping(spec.get("selector")).get("matchLabels")).items())),
        container=_text(container.get("name")),
    )
    return found.also(*_violations(found, labels, container, variables))


def compare(processors: Iterable[ProcessorWorkload]) -> list[ProcessorWorkload]:
    """The same, with violations between processors: a shared id or app id."""
    known = list(processors)
    ids = _shared((p.id, p) for p in known)
    groups = _shared(((p.app_id, p.bootstrap_servers) if p.app_id else None, p) for p in known if p.runners)
    result = []
    for processor in known:
        found = []
        if others := ids.get(processor.key):
            found.append(Violation("id-shared", f"The id is also that of {others}: remove the label from the copy."))
        if others := groups.get(processor.key):
            text = f"SQL_APP_ID is also that of {others}: both read as one consumer group."
            found.append(Violation("app-id-shared", text))
        result.append(processor.also(*found))
    return result


def expand(value: str, known: Mapping[str, str]) -> str:
    """A value of the manifest as the container gets it: `$$` is `$`, `$(NAME)` an earlier variable."""

    def replaced(match: re.Match[str]) -> str:
        name = match["name"]
        return "$" if name is None else known.get(name, match[0])

    return _REFERENCE.sub(replaced, value)


class _Variables:
    """The environment of a container as its manifest gives it."""

    def __init__(self, env: object) -> None:
        self._values: dict[str, str] = {}
        self.referred: dict[str, str] = {}
        """Variables with `valueFrom`, and the kind of their source."""
        for item in _mappings(env):
            name = _text(item.get("name"))
            source = _mapping(item.get("valueFrom"))
            if source:
                self.referred[name] = next(iter(source), "")
                self._values.pop(name, None)
            else:
                self._values[name] = expand(_text(item.get("value")), self._values)
                self.referred.pop(name, None)

    def value(self, name: str) -> str | None:
        """The variable's value; null if it is not set, or not here."""
        return self._values.get(name)

    def has(self, name: str) -> bool:
        """Whether it is set, in whatever way."""
        return bool(self._values.get(name)) or name in self.referred or f"{name}_FILE" in self._values


def _violations(
    p: ProcessorWorkload,
    labels: Mapping[str, str],
    container: Mapping[str, Any],
    variables: _Variables,
) -> Iterable[Violation]:
    if len(p.name) > _NAME_CHARS or not _NAME.match(p.name):
        rule = f"lower-case letters, digits and `-`, at most {_NAME_CHARS} of them"
        yield Violation("name", f"The name {p.name} is not {rule}.")
    if not container:
        yield Violation("container", "The pod has no container.")
        return
    ports = [port.get("containerPort") for port in _mappings(container.get("ports"))]
    if PORT not in ports:
        yield Violation("port", f"The container {p.container} does not name port {PORT}.")
    if "SQL" in variables.referred:
        place = variables.referred["SQL"]
        yield Violation("sql-elsewhere", f"SQL comes from {place}: it is to be a value of the workload itself.")
    elif variables.has("SQL") and p.sql is None:
        yield Violation("sql-elsewhere", "SQL comes from a file: it is to be a value of the workload itself.")
    elif not (p.sql or "").strip():
        yield Violation("sql-missing", "The variable SQL is not set.")
    for name in _NEEDED:
        if not variables.has(name):
            yield Violation(name.lower().replace("_", "-") + "-missing", f"The variable {name} is not set.")
    if p.id is not None and not _ID.match(p.id):
        yield Violation("id", f"The id {p.id} is no value of a label.")
    if p.runners > 1:
        yield Violation("replicas", f"{p.runners} replicas: each would read and write everything.")
    if p.legacy:
        return
    if labels.get("app") != p.name:
        yield Violation("label-app", f"The label app is {labels.get('app') or 'missing'}, not {p.name}.")


def _shared(pairs: Iterable[tuple[object, ProcessorWorkload]]) -> dict[tuple[str, str, str], str]:
    """For each processor that shares its value: the names of up to three others."""
    by_value: dict[object, list[ProcessorWorkload]] = {}
    for value, processor in pairs:
        if value is not None:
            by_value.setdefault(value, []).append(processor)
    found = {}
    for same in by_value.values():
        if len(same) > 1:
            for processor in same:
                others = [f"{p.namespace}/{p.name}" for p in same if p.key != processor.key]
                more = f" and {len(others) - 3} more" if len(others) > 3 else ""
                found[processor.key] = ", ".join(others[:3]) + more
    return found


def _runner(containers: object) -> Mapping[str, Any]:
    """The container that runs the program: the one that has SQL, else the one that names the port, else the first."""
    known = _mappings(containers)
    for container in known:
        if any(item.get("name") in ("SQL", "SQL_FILE") for item in _mappings(container.get("env"))):
            return container
    for container in known:
        if any(port.get("containerPort") == PORT for port in _mappings(container.get("ports"))):
            return container
    return known[0] if known else {}


def _chart(labels: Mapping[str, str]) -> tuple[str, str]:
    text = labels.get("helm.sh/chart") or labels.get("chart", "")
    if match := _CHART_LABEL.match(text):
        return match["name"], match["version"]
    return text or labels.get("lenses.io/chart.name", ""), labels.get("lenses.io/chart.version", "")


def _created_by(
    labels: Mapping[str, str], annotations: Mapping[str, str], metadata: Mapping[str, Any], chart: str
) -> str:
    by_helm = labels.get("app.kubernetes.io/managed-by") == "Helm" or "meta.helm.sh/release-name" in annotations
    if by_helm or labels.get("heritage") in ("Helm", "Tiller"):
        # A dependency with an alias has the alias as its chart name; the component label stays.
        aliased = labels.get("app.kubernetes.io/component") == "processor" and labels.get(MARK[0]) == MARK[1]
        return CHART if chart == CHART or aliased else "helm"
    managers = [_text(entry.get("manager")) for entry in _mappings(metadata.get("managedFields"))]
    applied = "kubectl.kubernetes.io/last-applied-configuration" in annotations
    if applied or any(manager.startswith("kubectl") for manager in managers):
        return "kubectl"
    return "unknown"


def _image_version(image: str) -> str:
    name, _, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return tag or digest


def _port(value: str | None) -> int:
    return int(value) if value and value.isdecimal() and 0 < int(value) < 65_536 else PORT


def _moment(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    try:
        return datetime.fromisoformat(_text(value)).astimezone(UTC)
    except ValueError:
        return None


def _labels(metadata: object) -> dict[str, str]:
    return _strings(_mapping(metadata).get("labels"))


def _strings(value: object) -> dict[str, str]:
    return {str(k): v if isinstance(v, str) else "" for k, v in _mapping(value).items()}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _mappings(value: object) -> list[Mapping[str, Any]]:
    known: Sequence[object] = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
    return [item for item in known if isinstance(item, Mapping)]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
