"""`lsql`: the command line. Exit codes: 0 ok, 1 the SQL or the configuration is wrong, 2 usage, 3 runtime."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lsql_runner.cli.exit_codes import exits_with_code
from lsql_runner.errors import render
from lsql_runner.jvm.java import CLASS_ARCHIVE, JARS_DIR

if TYPE_CHECKING:
    from lsql_runner.jvm.spark_jvm import SparkJvm


def main() -> None:
    """The entry point: no stack trace reaches the terminal."""
    cli(prog_name="lsql")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="lsql-runner")
def cli() -> None:
    """Runs one LSQL program as a processor over Kafka.

    The program is the variable SQL; all other settings are environment variables too.
    """
    # Without a handler Python would print what libraries log, with their traces, as py4j's when a JVM is closed.
    logging.getLogger().addHandler(logging.NullHandler())


def _program_text(environment: Mapping[str, str]) -> str | None:
    """The program for an error's place. Bytes that are no UTF-8 are shown as such."""
    text = environment.get("SQL")
    if text is None and "SQL_FILE" in environment:
        try:
            text = Path(environment["SQL_FILE"]).read_bytes().decode("utf-8", "surrogateescape")
        except OSError:
            return None
    return text


_reports_errors = exits_with_code(lambda error: render(error, _program_text(os.environ)))

_file = click.option(
    "--file",
    "-f",
    "path",
    type=click.Path(dir_okay=False),
    help="Read the program from a file instead of the variable SQL.",
)


def _environment(path: str | None) -> dict[str, str]:
    """The environment, with SQL from a file where one is named."""
    if path is not None:
        os.environ.pop("SQL", None)
        os.environ["SQL_FILE"] = path
    return dict(os.environ)


@cli.command()
@_file
@_reports_errors
def run(path: str | None) -> int:
    """Run the processor until a signal ends it; REST API on SQL_PORT."""
    from lsql_runner.service import run as run_service

    return run_service(_environment(path))


@cli.command()
@_file
@_reports_errors
def validate(path: str | None) -> int:
    """Check the program, and list what a start changes; nothing is changed.

    Against the brokers if SQL_BOOTSTRAP_SERVERS is set, else against LSQL_TOPICS.
    """
    from lsql_runner.runtime.actions import describe
    from lsql_runner.runtime.offline import validate as validate_program

    found = validate_program(_environment(path))
    planned = found.planned
    for warning in (*planned.bound.warnings, *found.decision.warnings):
        click.echo(f"warning: {warning}", err=True)
    sources = ", ".join(source.topic for source in planned.plan.sources)
    targets = ", ".join((*planned.plan.targets, *(sink.name for sink in planned.plan.row_sinks)))
    click.echo(f"ok: {sources} -> {targets}")
    click.echo("A start now will:" if found.on_brokers else "A first start, where nothing of this exists yet, will:")
    for action in found.decision.actions:
        click.echo(f"- {describe(action)}")
    return 0


@cli.command()
@_file
@_reports_errors
def explain(path: str | None) -> int:
    """Print the plan."""
    from lsql_runner.plan.explain import explain as explain_plan
    from lsql_runner.runtime.offline import plan_from_environment

    click.echo(explain_plan(plan_from_environment(_environment(path)).plan), nl=False)
    return 0


@cli.command()
@_file
@_reports_errors
def topology(path: str | None) -> int:
    """Print the plan as a graph, in JSON."""
    from lsql_runner.plan.topology import topology as topology_of
    from lsql_runner.runtime.offline import plan_from_environment

    _echo_json(topology_of(plan_from_environment(_environment(path)).plan))
    return 0


@cli.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="All of it as JSON.")
@_reports_errors
def functions(name: str | None, as_json: bool) -> int:
    """List the functions, or show one."""
    from lsql_runner.bind.functions.listing import as_documents, as_text

    if as_json:
        _echo_json(as_documents(name))
    else:
        click.echo(as_text(name), nl=False)
    return 0


@cli.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True))
@click.option("--junit", type=click.Path(dir_okay=False), help="Write a JUnit XML report here.")
@click.option(
    "--kafka",
    "servers",
    metavar="BOOTSTRAP",
    help="Run them on these brokers, as a processor would: [PROTO://]host:port, several with commas.",
)
@click.option("--registry", metavar="URL", help="The schema registry beside the brokers, for AVRO and PROTOBUF.")
@_reports_errors
def test(paths: tuple[str, ...], junit: str | None, servers: str | None, registry: str | None) -> int:
    """Run case files: input records, a program, expected records. Needs no Kafka.

    With --kafka they run on real brokers, in topics of their own, which must not exist and are deleted afterwards;
    credentials are in the environment, as for `lsql run`.
    """
    if registry is not None and servers is None:
        raise click.UsageError("--registry goes with --kafka: without it schemas are kept in memory.")
    jvm = _case_jvm() if servers is None else None  # before the imports, which take as long as its start

    from lsql_runner.cases.run import OnBrokers, run_cases

    report = None if junit is None else Path(junit)
    place = jvm or OnBrokers(servers or "", registry)
    return run_cases([Path(path) for path in paths], report, click.echo, place, _warn)


def _case_jvm() -> SparkJvm:
    from lsql_runner.jvm.spark_jvm import SparkJvm, short_lived

    jars, archive = os.environ.get("LSQL_JARS_DIR"), os.environ.get("LSQL_CLASS_ARCHIVE")
    return SparkJvm(short_lived(Path(jars or JARS_DIR), Path(archive or CLASS_ARCHIVE)))


def _warn(text: str) -> None:
    click.echo(text, err=True)


def _echo_json(document: Any) -> None:
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))
