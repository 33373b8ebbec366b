"""`make docs`: generates the reference pages from tables of the code. tests/repo/test_docs.py compares them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import click

from devkit.docs_settings import settings
from devkit.edits import CONVERTED, KEPT, NEW_MEANINGS, REPLACED
from devkit.markdown import GENERATED, cell, code
from lsql_runner.api import openapi as processor_openapi
from lsql_runner.bind.functions.headers import EXAMPLE_HEADERS
from lsql_runner.bind.functions.listing import as_documents
from lsql_runner.cli.console import cli as console_cli
from lsql_runner.cli.lsql import cli
from lsql_runner.console import openapi as console_openapi
from lsql_runner.errors import CATALOGUE
from lsql_runner.formats.spec import FormatRow
from lsql_runner.formats.table import ROWS
from lsql_runner.observe.metric_table import CONSOLE_METRICS, as_markdown
from lsql_runner.sql.unsupported import UNSUPPORTED

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs/reference"


def changes() -> str:
    """What each of the edits of `devkit.edits` does to the state of a program."""
    lines = [
        GENERATED.format(source="devkit/edits.py"),
        "# What a change of a program does to its state",
        "",
        (
            "The verdicts of `lsql diff` on changed programs, as in "
            "[Changing a program](../guides/changing-a-program.md). Each of them is a test: a processor with the first "
            "program is started with the second one."
        ),
    ]
    for title, edits in (
        ("keeps", KEPT),
        ("keeps from here on", NEW_MEANINGS),
        ("keeps from here on, with converted state", CONVERTED),
        ("new generation, or removes", REPLACED),
    ):
        lines += ["", f"## {title}", "", "| change | before | after |", "|---|---|---|"]
        for name, (old, new, *_) in edits.items():
            before, after = (code(" ".join(text.split())) for text in (old, new))
            lines.append(f"| {name} | {before} | {after} |")
    return "\n".join([*lines, ""])


def functions() -> str:
    """The function reference."""
    lines = [
        GENERATED.format(source="image/src/lsql_runner/bind/functions"),
        "# Functions",
        "",
        (
            "`lsql functions` prints this list, `lsql functions <name>` a single function. Names are not "
            "case-sensitive. The examples run as tests; their results are in JSON. In the examples of aggregates, the "
            "field `x` of five records is 2, 3, null, 1, 3. The record of the examples of headers has the headers "
            f"{', '.join(f'`{name}` ({_header(value)})' for name, value in EXAMPLE_HEADERS)}."
        ),
        "",
        "A parameter in a signature has a type, or one of these words:",
        "",
        "| word | arguments |",
        "|---|---|",
        "| `number` | any numeric type |",
        "| `integer` | int, long |",
        "| `text` | string, number, boolean, date, time, timestamp; converted to a string |",
        "| `header` | the name of a header, as a literal |",
        "| `instant` | timestamp, date (midnight UTC), long (milliseconds since 1970 UTC) |",
        "| `array`, `struct`, `any` | any array, any struct, any type |",
        "| `A`, `B` | any type; all arguments with the same letter are converted to their common type |",
        "| `N` | as `A`, only numbers |",
        "| `O` | as `A`, only types with an order: numbers, string, boolean, date, time, timestamp |",
        "| `E` | as `A`, no maps and no types that contain a map |",
        "",
        (
            "`...` means one or more arguments (parameters with `...` repeat together), `= value` is the default of an "
            "optional argument, and `literal` means that the argument must be a literal."
        ),
        "",
        (
            "Aggregates ignore nulls. If an argument of another function is null, the result is null, except for "
            "functions that accept null. In the [modern dialect](../guides/language.md#null) only these functions "
            "and aggregates accept nullable arguments."
        ),
    ]
    group = None
    for document in as_documents():
        if document["group"] != group:
            group = document["group"]
            lines += ["", f"## {group}", ""]
            lines += ["| function | meaning | example | result |", "|---|---|---|---|"]
        lines.append("| " + " | ".join(_function_cells(document)) + " |")
    return "\n".join(lines) + "\n"


def _header(value: bytes) -> str:
    """The value of a header: its text if it is readable, else its bytes."""
    text = value.decode("ascii", "replace")
    return f"the text {text}" if text.isalnum() else f"the bytes {value.hex(' ')}"


def _function_cells(document: dict[str, Any]) -> Iterator[str]:
    yield "<br>".join(code(signature) for signature in document["signatures"])
    meaning = cell(document["doc"])
    if document.get("aliases"):
        meaning += " Alias: " + ", ".join(code(alias) for alias in document["aliases"]) + "."
    for limit in document.get("limits", ()):
        meaning += f" {cell(limit[0].upper() + limit[1:])}."
    yield meaning
    yield code(document["example"])
    yield code(document["result"]) if document["deterministic"] else "not deterministic"


def formats() -> str:
    """The format reference."""
    lines = [
        GENERATED.format(source="image/src/lsql_runner/formats"),
        "# Formats",
        "",
        (
            "A topic has a format for its keys and one for its values. If neither the program nor LSQL_TOPICS nor the "
            "state directory specifies the format, the runner looks in the schema registry, then reads a sample of "
            "records. [Topics](topics.md) describes how to declare a format."
        ),
        "",
        "| format | content | used for | can be written | schema | source of the schema |",
        "|---|---|---|---|---|---|",
    ]
    for row in ROWS:
        parts = "keys and values" if row.is_of_keys else "values"
        schema = "one type" if row.one_type is not None else "declared" if row.must_be_declared else "needed"
        lines.append(
            f"| {row.name} | {cell(row.doc)} | {parts} | {'yes' if row.is_written else 'no'} "
            f"| {schema} | {', '.join(_known_from(row))} |"
        )
    lines += [
        "",
        (
            "`TW[...]` is a key in one of these formats, followed by the start of a time window. `SW[...]` is a key "
            "followed by the end and the start of a session. Each time has 8 bytes: big-endian milliseconds since 1970 "
            "UTC."
        ),
        "",
        "## SET: schemas of written topics",
        "",
        (
            "Set for all topics (`defaults.topic.value.avro.record`) or for one topic "
            "(`topic.<name>.value.avro.record`), for values or for keys (`key.avro.record`)."
        ),
        "",
        "| key | format | value |",
        "|---|---|---|",
    ]
    values = {"name": "a name", "dotted name": "names separated by dots", "boolean": "true or false"}
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
        GENERATED.format(source="image/src/lsql_runner/errors/catalogue"),
        "# Errors",
        "",
        (
            "Codes are stable from the first release, so scripts can rely on them. Names in braces are parameters. "
            "Exit code 1 means that the SQL or the configuration is wrong, 2 that the command line is wrong, 3 that an "
            "external service or the process failed."
        ),
        "",
        (
            "Recovery is what a running processor does after the error: `wait` tries to start every second until an "
            "external service becomes available, `retry` restarts with back-off, `final` stays failed until a user "
            "starts the processor. HTTP is the status of a REST request that fails with the error."
        ),
        "",
        "| code | problem | what to do | exit code | recovery | HTTP |",
        "|---|---|---|---|---|---|",
    ]
    for name, kind in CATALOGUE.items():
        cells = (
            f"`{name}`",
            cell(kind.message),
            cell(kind.way_out),
            kind.exit_code,
            kind.recovery,
            kind.http_status.value,
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def metrics() -> str:
    """The metric reference."""
    return "\n".join(
        [
            GENERATED.format(source="image/src/lsql_runner/observe/metric_table.py"),
            "# Metrics",
            "",
            "GET /metrics returns the text format of Prometheus, or OpenMetrics if the `Accept` header has it.",
            "",
            as_markdown(),
            "",
            "## Console",
            "",
            "GET /metrics of the console needs no authentication. It has numbers of processors, but not their names.",
            "",
            as_markdown(CONSOLE_METRICS),
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
        GENERATED.format(source="image/src/lsql_runner/cli"),
        "# Command line",
        "",
        "Exit codes: 0 ok, 1 wrong SQL or configuration, 2 wrong usage, 3 failure at run time.",
    ]
    for program, group in (("lsql", cli), ("lsql-console", console_cli)):
        outer = click.Context(
            group, info_name=program, max_content_width=100, terminal_width=100, **group.context_settings
        )
        for context in _contexts(outer):
            lines += ["", f"## {context.command_path}", "", "```text", context.get_help().rstrip(), "```"]
    return "\n".join(lines) + "\n"


def _contexts(context: click.Context) -> Iterator[click.Context]:
    """A command, and those below it by name."""
    yield context
    if isinstance(context.command, click.Group):
        for name in sorted(context.command.list_commands(context)):
            if (command := context.command.get_command(context, name)) is not None:
                yield from _contexts(click.Context(command, context, name))


_LIST = re.compile(r"(?<=<!-- unsupported -->\n).*?(?=<!-- /unsupported -->\n)", re.DOTALL)


def language() -> str:
    """The language guide, with the table of features that this version does not support."""
    features: dict[tuple[str, str], list[str]] = {}
    for row in UNSUPPORTED.values():
        if row.guide is not None:
            features.setdefault((row.instead, row.code), []).append(row.guide or _sentence(row.feature))
    rows = [
        f"| {', '.join(names)} | {_without_slots(cell(instead))} | {code} |"
        for (instead, code), names in features.items()
    ]
    table = "\n".join(["| feature | alternative | code |", "|---|---|---|", *rows])
    guide = (FOLDER / "../guides/language.md").read_text(encoding="utf-8")
    return _LIST.sub(lambda _: table + "\n", guide)


def _sentence(what: str) -> str:
    return what[0].upper() + what[1:]


def _without_slots(instead: str) -> str:
    """The alternative, with names of parameters where a program has values."""
    return re.sub(r"\{(\w+)\}", r"*\1*", instead)


PAGES: dict[str, Callable[[], str]] = {
    "changes.md": changes,
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
"""The generated pages, and pages with a generated table, by path below docs/reference."""


def main() -> None:
    """Write the pages that have changed."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        path, text = FOLDER / name, make()
        is_outdated = not path.exists() or path.read_text(encoding="utf-8") != text
        if is_outdated:
            path.write_text(text, encoding="utf-8")
        print(f"{'wrote' if is_outdated else 'up to date'}: {path.resolve().relative_to(ROOT)}")


if __name__ == "__main__":
    main()
