"""`make docs`: the reference pages that are made from the code's own tables. tests/repo/test_docs.py compares."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin

import click

from lsql_runner.api import openapi as processor_openapi
from lsql_runner.bind.functions.listing import as_documents
from lsql_runner.bind.kafka_keys import CONSUMER_KEYS, IGNORED_KEYS, PRODUCER_KEYS, TOPIC_KEYS
from lsql_runner.bind.rocksdb_keys import ROCKSDB_IGNORED, ROCKSDB_KEYS
from lsql_runner.cli.console import cli as console_cli
from lsql_runner.cli.lsql import cli
from lsql_runner.config.settings import Settings
from lsql_runner.config.sink_settings import SINK_PARTS
from lsql_runner.console import openapi as console_openapi
from lsql_runner.errors import CATALOGUE
from lsql_runner.formats.spec import FormatRow
from lsql_runner.formats.table import ROWS
from lsql_runner.observe.metric_table import as_markdown
from lsql_runner.sql.unsupported import KEYS_OF_ENGINE, UNSUPPORTED

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs/reference"
MADE = "<!-- Made by `make docs` from {source}; do not edit. -->"


def functions() -> str:
    """The function reference."""
    lines = [
        MADE.format(source="image/src/lsql_runner/bind/functions"),
        "# Functions",
        "",
        (
            "`lsql functions` prints the same, `lsql functions <name>` one of them. Names are read in any case. "
            "Every example below is run as a test; its result is shown as JSON."
        ),
        "",
        (
            "In a signature: `number` is any numeric type, `integer` an int or a long, `text` anything that has one, "
            "`instant` a timestamp, a date or milliseconds since 1970 as a long; a letter (`A`, `B`, `N` for numbers, "
            "`O` for what has an order, `E` for all but maps) stands for one type, the same wherever it appears. `...` "
            "means once or more, "
            "`= value` optional, `literal` that it must be written out."
        ),
        "",
        "Unless its text says otherwise, a function of a null is null.",
    ]
    group = None
    for document in as_documents():
        if document["group"] != group:
            group = document["group"]
            lines += ["", f"## {group}", ""]
            lines += ["| function | meaning | example | result |", "|---|---|---|---|"]
        lines.append("| " + " | ".join(_function_cells(document)) + " |")
    return "\n".join(lines) + "\n"


def _function_cells(document: dict[str, Any]) -> Iterator[str]:
    yield "<br>".join(_code(signature) for signature in document["signatures"])
    meaning = _cell(document["doc"])
    if document.get("aliases"):
        meaning += " Also written " + ", ".join(_code(alias) for alias in document["aliases"]) + "."
    for limit in document.get("limits", ()):
        meaning += f" {_cell(limit[0].upper() + limit[1:])}."
    yield meaning
    yield _code(document["example"])
    yield _code(document["result"]) if document["deterministic"] else "differs from call to call"


def formats() -> str:
    """The format reference."""
    lines = [
        MADE.format(source="image/src/lsql_runner/formats"),
        "# Formats",
        "",
        (
            "A topic has one format for its keys and one for its values. If neither the program nor LSQL_TOPICS nor "
            "the state directory names it, the runner asks the schema registry, then reads a sample of records. "
            "[Topics](topics.md) shows how a format is declared."
        ),
        "",
        "| format | content | parts | can be written | schema | known from |",
        "|---|---|---|---|---|---|",
    ]
    for row in ROWS:
        parts = "keys and values" if row.is_of_keys else "values"
        schema = "one type" if row.one_type is not None else "declared" if row.must_be_declared else "needed"
        lines.append(
            f"| {row.name} | {_cell(row.doc)} | {parts} | {'yes' if row.is_written else 'no'} "
            f"| {schema} | {', '.join(_known_from(row))} |"
        )
    lines += [
        "",
        (
            "`TW[...]` is a key in one of these formats followed by the start of a time window, `SW[...]` one followed "
            "by the end and the start of a session: 8 bytes each, big-endian, milliseconds since 1970 UTC."
        ),
        "",
        "## SET: schemas of what is written",
        "",
        (
            "Set for all topics (`defaults.topic.value.avro.record`) or for one (`topic.<name>.value.avro.record`), "
            "for values or keys (`key.avro.record`)."
        ),
        "",
        "| key | format | value |",
        "|---|---|---|",
    ]
    values = {"name": "a name", "dotted name": "names with dots between", "boolean": "true or false"}
    for row in ROWS:
        lines += [f"| `{setting.key}` | {row.name} | {values[setting.kind]} |" for setting in row.settings]
    return "\n".join(lines) + "\n"


def _known_from(row: FormatRow) -> Iterator[str]:
    if row.declare is not None or row.one_type is not None:
        yield "LSQL_TOPICS"
    if row.from_columns is not None or row.one_type is not None:
        yield "CREATE TABLE"
    if row.registry is not None:
        yield "schema registry"
    if row.is_sampled or row.recognizes is not None:
        yield "sample"


def errors() -> str:
    """The error reference."""
    lines = [
        MADE.format(source="image/src/lsql_runner/errors/catalogue"),
        "# Errors",
        "",
        (
            "Codes are stable from the first release: scripts may rely on them. Names in braces are parameters. Exit "
            "code 1 means that the SQL or the configuration is wrong, 3 that something outside failed, 2 that the "
            "command line is wrong."
        ),
        "",
        (
            "Recovery is what a running processor does after the error: `wait` tries to start every second until "
            "something outside becomes available, `retry` restarts with back-off, `final` fails until a person starts "
            "the processor again. HTTP is the status of a request to the REST API that fails with the error."
        ),
        "",
        "| code | what was found | what to do | exit code | recovery | HTTP |",
        "|---|---|---|---|---|---|",
    ]
    for code, kind in CATALOGUE.items():
        cells = (f"`{code}`", _cell(kind.found), _cell(kind.do), kind.exit_code, kind.recovery, kind.http_status.value)
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def settings() -> str:
    """The environment, and the SET keys that have their own story."""
    lines = [
        MADE.format(source="image/src/lsql_runner/config/settings.py and bind/kafka_keys.py"),
        "# Settings",
        "",
        "## Environment",
        "",
        (
            "Everything is an environment variable. A name with `_FILE` behind it names a file that holds the value: "
            "`SASL_JAAS_CONFIG_FILE=/run/secrets/jaas`. A name that begins with `SQL_` or `LSQL_` and is not in this "
            "list is an error that names the near ones."
        ),
        "",
        "| name | default | values | meaning |",
        "|---|---|---|---|",
    ]
    for info in Settings.model_fields.values():
        if info.alias:
            default = "must be set" if info.is_required() else _default(info.default)
            cells = (_code(info.alias), default, _values(info.annotation), _cell(info.description or ""))
            lines.append("| " + " | ".join(cells) + " |")
    lines += [
        (
            "| `SASL_*`, `SSL_*` | none | text | Kafka client keys: lower case, `_` to `.`; "
            "`SASL_MECHANISM` is `sasl.mechanism`. |"
        ),
        "",
        "## Sinks",
        "",
        (
            "A set of variables for each [sink](../guides/language.md#sinks). No message and no page shows a password; "
            "an address that holds one is refused."
        ),
        "",
        "| name | meaning |",
        "|---|---|",
        *(f"| `LSQL_SINK_<NAME>_{part}` | {_cell(meaning)} |" for part, meaning in SINK_PARTS.items()),
        "",
        "## SET: keys that are Kafka's",
        "",
        (
            "What a program sets itself is described in the [language guide](../guides/language.md#set). "
            "Kafka's own keys pass through:"
        ),
        "",
        "**Topics that the program creates** (`SET defaults.topic.<key>`, `SET topic.<name>.<key>`): "
        + _codes(TOPIC_KEYS),
        "",
        "**Consumer** (bare, or behind `consumer.`): " + _codes(CONSUMER_KEYS),
        "",
        "**Producer** (bare, or behind `producer.`): " + _codes(PRODUCER_KEYS),
        "",
        "## SET: keys that have another home",
        "",
        "| key | instead |",
        "|---|---|",
        *(f"| `{key}` | {_cell(instead)} |" for key, instead in KEYS_OF_ENGINE.items()),
        "",
        (
            "`security.protocol`, `sasl.*` and `ssl.*` are no part of a program: set SECURITY_PROTOCOL, SASL_* and "
            "SSL_* in the environment."
        ),
        "",
        "## SET: state stores",
        "",
        (
            "Each partition of each state store has a cache and buffers of its own, beside the heap: leave room for "
            "them in the memory of the container."
        ),
        "",
        "| key | value |",
        "|---|---|",
        *(f"| `{key}` | {_cell(what)} |" for key, (_, what) in ROCKSDB_KEYS.items()),
        "",
        "## SET: keys without a meaning here",
        "",
        "They are accepted with a warning that GET /stream shows.",
        "",
        "| key | why |",
        "|---|---|",
        *(f"| `{key}` | {_cell(why)} |" for key, why in {**IGNORED_KEYS, **ROCKSDB_IGNORED}.items()),
    ]
    return "\n".join(lines) + "\n"


def _default(value: object) -> str:
    if isinstance(value, Path) and value.is_relative_to(sys.prefix):
        return f"{_code(str(value.relative_to(sys.prefix)))} of the Python environment"
    return "empty" if value in ("", None) else _code(str(value))


def _values(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return ", ".join(_code(word) if word else "empty" for word in get_args(annotation))
    names = {str: "text", int: "whole number", float: "number", Path: "path"}
    if isinstance(annotation, UnionType) or annotation not in names:
        raise TypeError(f"settings.md has no word for the type {annotation}")
    return names[annotation]


def metrics() -> str:
    """The metric reference."""
    return "\n".join(
        [
            MADE.format(source="image/src/lsql_runner/observe/metric_table.py"),
            "# Metrics",
            "",
            "GET /metrics answers in Prometheus' text format, or in OpenMetrics where `Accept` asks for it.",
            "",
            as_markdown(),
            "",
        ]
    )


def openapi(document: dict[str, Any]) -> str:
    """An OpenAPI document as a page."""
    return json.dumps(document, indent=2, ensure_ascii=False, default=_plain) + "\n"


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    raise TypeError(f"no JSON for {value!r}")


def command_line() -> str:
    """The help of `lsql` and `lsql-console` and all their commands."""
    lines = [
        MADE.format(source="image/src/lsql_runner/cli/lsql.py and cli/console.py"),
        "# Command line",
        "",
        "Exit codes: 0 ok, 1 the SQL or the configuration is wrong, 2 wrong usage, 3 something failed while it ran.",
    ]
    for program, group in (("lsql", cli), ("lsql-console", console_cli)):
        outer = click.Context(
            group, info_name=program, max_content_width=100, terminal_width=100, **group.context_settings
        )
        inner = [click.Context(group.commands[name], outer, name) for name in sorted(group.commands)]
        for context in [outer, *inner]:
            lines += ["", f"## {context.command_path}", "", "```text", context.get_help().rstrip(), "```"]
    return "\n".join(lines) + "\n"


_LIST = re.compile(r"(?<=<!-- unsupported -->\n).*?(?=<!-- /unsupported -->\n)", re.DOTALL)


def language() -> str:
    """The language guide, with the list of what this version does not run."""
    rows = [
        f"| {row.guide or _sentence(row.feature)} | {_without_slots(_cell(row.instead))} | {row.code} |"
        for row in UNSUPPORTED.values()
        if row.guide is not None
    ]
    table = "\n".join(["| what | instead | code |", "|---|---|---|", *rows])
    guide = (FOLDER / "../guides/language.md").read_text(encoding="utf-8")
    return _LIST.sub(lambda _: table + "\n", guide)


def _sentence(what: str) -> str:
    return what[0].upper() + what[1:]


def _without_slots(instead: str) -> str:
    """What to do, with the names of values in place of the values, which are the program's."""
    return re.sub(r"\{(\w+)\}", r"*\1*", instead)


PAGES: dict[str, Callable[[], str]] = {
    "functions.md": functions,
    "formats.md": formats,
    "errors.md": errors,
    "settings.md": settings,
    "metrics.md": metrics,
    "openapi.json": lambda: openapi(processor_openapi.document()),
    "console-openapi.json": lambda: openapi(console_openapi.document()),
    "cli.md": command_line,
    "../guides/language.md": language,
}
"""The pages that are made here, or a list in them, below docs/reference."""


def _code(text: str) -> str:
    """Text as code inside a table; two back-ticks where it holds one itself."""
    escaped = text.replace("|", "\\|")
    return f"`` {escaped} ``" if "`" in text else f"`{escaped}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def _codes(names: frozenset[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) + "."


def main() -> None:
    """Writes the pages that have changed."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        path, text = FOLDER / name, make()
        fresh = not path.exists() or path.read_text(encoding="utf-8") != text
        if fresh:
            path.write_text(text, encoding="utf-8")
        print(f"{'wrote' if fresh else 'up to date'}: {path.resolve().relative_to(ROOT)}")


if __name__ == "__main__":
    main()
