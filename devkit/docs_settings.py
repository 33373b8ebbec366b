"""The reference page of settings: environment variables, and the keys of SET that come from Kafka and RocksDB."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from devkit.markdown import GENERATED, cell, code, code_list
from lsql_runner.bind.kafka_settings import CONSUMER_KEYS, IGNORED_KEYS, PRODUCER_KEYS, TOPIC_KEYS
from lsql_runner.bind.rocksdb_settings import ROCKSDB_IGNORED, ROCKSDB_KEYS
from lsql_runner.config.api_settings import ApiSettings
from lsql_runner.config.connection_settings import ConnectionSettings
from lsql_runner.config.lease_settings import LeaseSettings
from lsql_runner.config.policy_settings import PolicySettings
from lsql_runner.config.scaling_settings import ScalingSettings
from lsql_runner.config.settings import Settings
from lsql_runner.config.sink_settings import SINK_SUFFIXES
from lsql_runner.config.state_store import OPTION, OPTION_DOC
from lsql_runner.config.worker_settings import WorkerSettings
from lsql_runner.sql.unsupported import KEYS_OF_ENGINE

_OTHER_TABLES = {
    **ConnectionSettings.model_fields,
    **ApiSettings.model_fields,
    **PolicySettings.model_fields,
    **ScalingSettings.model_fields,
    **LeaseSettings.model_fields,
}


def settings() -> str:
    """The page."""
    lines = [
        GENERATED.format(source="image/src/lsql_runner/config/settings.py and bind/kafka_settings.py"),
        "# Settings",
        "",
        "## Environment",
        "",
        (
            "All settings are environment variables. A variable with the suffix `_FILE` is the path of a file that "
            "contains the value: `SASL_JAAS_CONFIG_FILE=/run/secrets/jaas`. A variable that begins with `SQL_` or "
            "`LSQL_` and is not in this list is an error, which suggests similar names."
        ),
        "",
        *_table(name for name in Settings.model_fields if name not in _OTHER_TABLES),
        f"| `{OPTION}<KEY>` | none | text | {cell(OPTION_DOC)} |",
        "",
        "## Brokers and schema registry",
        "",
        *_table(ConnectionSettings.model_fields),
        (
            "| `SASL_*`, `SSL_*` | none | text | Keys of the Kafka client, in upper case and with `_` for `.`: "
            "`SASL_MECHANISM` is `sasl.mechanism`. |"
        ),
        "",
        "## REST API",
        "",
        "See [the API](openapi.json) and [who may send requests](../guides/security.md#the-rest-api).",
        "",
        *_table(ApiSettings.model_fields),
        "",
        "## Topics of programs",
        "",
        "Patterns with `*` and `?`, separated by commas.",
        "",
        *_table(PolicySettings.model_fields),
        "",
        "## Workers",
        "",
        "Processor and [workers](../guides/operating.md#workers) have the same values.",
        "",
        *_table(WorkerSettings.model_fields),
        "",
        "## Scaling of workers",
        "",
        (
            "See [scaling workers](../guides/scaling.md). `lsql autoscale simulate` has options with these names, and "
            "shows what values do."
        ),
        "",
        *_table(name for name in ScalingSettings.model_fields if name not in WorkerSettings.model_fields),
        "",
        "## Standby",
        "",
        "Several processes, of which one runs the program and the others [stand by](../guides/operating.md#standby).",
        "",
        *_table(LeaseSettings.model_fields),
        "",
        "## Sinks",
        "",
        (
            "A set of variables for each [sink](../guides/language.md#sinks). Messages and pages show no password; "
            "a URL that contains a password is refused."
        ),
        "",
        "| name | meaning |",
        "|---|---|",
        *(f"| `LSQL_SINK_<NAME>_{suffix}` | {cell(meaning)} |" for suffix, meaning in SINK_SUFFIXES.items()),
        "",
        "## SET: keys of Kafka",
        "",
        (
            "The [language guide](../guides/language.md#set) describes the keys of programs. These keys of Kafka are "
            "passed to its clients:"
        ),
        "",
        "**Topics that the program creates** (`SET defaults.topic.<key>`, `SET topic.<name>.<key>`): "
        + code_list(TOPIC_KEYS),
        "",
        "**Consumer** (with or without the prefix `consumer.`): " + code_list(CONSUMER_KEYS),
        "",
        "**Producer** (with or without the prefix `producer.`): " + code_list(PRODUCER_KEYS),
        "",
        "## SET: keys that are set elsewhere",
        "",
        "| key | alternative |",
        "|---|---|",
        *(f"| `{key}` | {cell(instead)} |" for key, instead in KEYS_OF_ENGINE.items()),
        "",
        (
            "A program cannot set `security.protocol`, `sasl.*` and `ssl.*`: set SECURITY_PROTOCOL, SASL_* and SSL_* "
            "in the environment."
        ),
        "",
        "## SET: state stores",
        "",
        (
            "By default all state stores share the memory that the [budget](../guides/operating.md#memory-and-cpu) has "
            "for them. If a program sets the size of the cache or of the write buffers, each partition of each state "
            "store has its own, outside the heap: include them in the memory of the container."
        ),
        "",
        "| key | value |",
        "|---|---|",
        *(f"| `{key}` | {cell(what)} |" for key, (_, what) in ROCKSDB_KEYS.items()),
        "",
        "## SET: keys without effect",
        "",
        "These keys are accepted with a warning, which GET /stream shows.",
        "",
        "| key | reason |",
        "|---|---|",
        *(f"| `{key}` | {cell(why)} |" for key, why in {**IGNORED_KEYS, **ROCKSDB_IGNORED}.items()),
    ]
    return "\n".join(lines) + "\n"


def _table(names: Iterable[str]) -> Iterator[str]:
    """A table of fields of Settings that are variables."""
    yield "| name | default | values | meaning |"
    yield "|---|---|---|---|"
    for info in (Settings.model_fields[name] for name in names):
        if info.alias:
            default = "must be set" if info.is_required() else _default(info.default)
            cells = (code(info.alias), default, _values(info.annotation), cell(info.description or ""))
            yield "| " + " | ".join(cells) + " |"


def _default(value: object) -> str:
    if isinstance(value, Path) and value.is_relative_to(sys.prefix):
        return f"{code(str(value.relative_to(sys.prefix)))} of the Python environment"
    if isinstance(value, bool):
        return code(str(value).lower())
    return "empty" if value in ("", None) else code(str(value))


def _values(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return ", ".join(code(word) if word else "empty" for word in get_args(annotation))
    names: dict[Any, str] = {
        str: "text",
        int: "whole number",
        float: "number",
        bool: "`true`, `false`",
        Path: "path",
        Path | None: "path",
    }
    if annotation not in names:
        raise TypeError(f"settings.md has no name for the type {annotation}")
    return names[annotation]
