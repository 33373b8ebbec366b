"""`lsql`: the commands of a processor. Exit codes: 0 ok, 1 wrong SQL or configuration, 2 usage, 3 runtime."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lsql_runner.bind.limits import MAX_PARTITIONS
from lsql_runner.cli.exit_codes import exits_with_code
from lsql_runner.errors import LsqlError, render
from lsql_runner.jvm.java import CLASS_ARCHIVE, JARS_DIR

if TYPE_CHECKING:
    from lsql_runner.bind.settings import ProgramSettings
    from lsql_runner.jvm.spark_jvm import SparkJvm


def main() -> None:
    """The entry point of `lsql`."""
    cli(prog_name="lsql")


class _Commands(click.Group):
    """Imports `autoscale` when it is used: its options need modules that no other command does."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), "autoscale"])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name != "autoscale":
            return super().get_command(ctx, cmd_name)
        from lsql_runner.cli.autoscale import autoscale

        return autoscale


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="lsql-runner")
def cli() -> None:
    """Runs one LSQL program as a processor of Kafka topics.

    The environment variable SQL contains the program. All settings are environment variables too.
    """
    # Without a handler Python prints messages of libraries with their traces, such as py4j's when a JVM is closed.
    logging.getLogger().addHandler(logging.NullHandler())


def _program_text(environment: Mapping[str, str]) -> str | None:
    """The program, to show the position of an error in it. Bytes that are not UTF-8 become surrogates."""
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
    """The environment; with a path, SQL_FILE replaces SQL."""
    if path is not None:
        os.environ.pop("SQL", None)
        os.environ["SQL_FILE"] = path
    return dict(os.environ)


@cli.command()
@_file
@_reports_errors
def run(path: str | None) -> int:
    """Run the processor until a signal; it serves its REST API on SQL_PORT."""
    from lsql_runner.service import run as run_service

    return run_service(_environment(path))


@cli.command()
@_reports_errors
def worker() -> int:
    """Run tasks of the processor at LSQL_WORKERS_HOST until a signal, which lets running tasks end."""
    from lsql_runner.worker import run as run_worker

    return run_worker(os.environ)


@cli.command()
@_file
@click.option("--running", metavar="URL", help="Ask the processor at this address whether its state fits the program.")
@click.option(
    "--on-unknown",
    type=click.Choice(["accept", "refuse"]),
    default="accept",
    help="What to do if that processor cannot say.",
)
@_reports_errors
def validate(path: str | None, running: str | None, on_unknown: str) -> int:
    """Check the program and list what a start would change; change nothing.

    Topics are read from the brokers if SQL_BOOTSTRAP_SERVERS is set, else from LSQL_TOPICS. With --running, the verdict
    of POST /verdict is printed, too, and a program that does not fit the state is refused, unless the settings say
    otherwise. The token of that processor is LSQL_API_TOKEN.
    """
    from lsql_runner.start.actions import describe
    from lsql_runner.start.dry_run import validate as validate_program

    validation = validate_program(_environment(path))
    planned = validation.planned
    for warning in (*planned.bound.warnings, *validation.decision.warnings):
        click.echo(f"warning: {warning}", err=True)
    sources = ", ".join(source.topic for source in planned.plan.sources)
    targets = ", ".join((*planned.plan.targets, *(write.name for write in planned.plan.sink_writes)))
    click.echo(f"ok: {sources} -> {targets}")
    click.echo(f"The program needs about {validation.needed_mib} MiB of memory.")
    if validation.unread_state:
        click.echo(f"The state at {validation.unread_state} was not read. Without state there:")
    click.echo(
        "A start now will:" if validation.on_brokers else "A first start, with none of the targets present, will:"
    )
    for action in validation.decision.actions:
        click.echo(f"- {describe(action)}")
    for action in validation.decision.later:
        click.echo(f"- {describe(action)}, when each query has ended a batch")
    if running is not None:
        _check_running(running, on_unknown, planned.bound.settings)
    return 0


def _check_running(url: str, on_unknown: str, program: ProgramSettings) -> None:
    from lsql_runner.cli.running import check_running
    from lsql_runner.config.settings import read_settings

    try:
        check_running(url, read_settings(os.environ), program, click.echo)
    except LsqlError as error:
        if error.code != "VERDICT_UNKNOWN" or on_unknown == "refuse":
            raise
        click.echo(f"warning: {error.message}", err=True)


@cli.command()
@_file
@click.option("--acls", is_flag=True, help="Print commands of kafka-acls that grant the rights that the program needs.")
@click.option("--json", "as_json", is_flag=True, help="Print the rights as JSON.")
@click.option("--principal", default="", help="The principal in the commands; by default User: and SASL_USERNAME.")
@_reports_errors
def explain(path: str | None, acls: bool, as_json: bool, principal: str) -> int:
    """Print the plan, and the memory that it needs.

    With --acls, print the least rights on topics, consumer group and transactional ids instead. Without
    SQL_BOOTSTRAP_SERVERS they include those to create all targets.
    """
    from lsql_runner.start.dry_run import explain_from_environment

    if acls:
        return _explain_acls(_environment(path), principal, as_json)
    if as_json or principal:
        raise click.UsageError("--json and --principal require --acls.")
    click.echo(explain_from_environment(_environment(path)), nl=False)
    return 0


def _explain_acls(environment: Mapping[str, str], principal: str, as_json: bool) -> int:
    from lsql_runner.kafka.rights import acl_commands
    from lsql_runner.start.dry_run import acls_from_environment

    acls = acls_from_environment(environment)
    user = principal or acls.principal
    if as_json:
        _echo_json({"principal": user or None, "acls": [acl.as_json() for acl in acls.acls]})
    else:
        click.echo("\n".join(acl_commands(acls.acls, acls.servers, user)))
    return 0


@cli.command()
@click.argument("old", type=click.Path(exists=True, dir_okay=False))
@click.argument("new", type=click.Path(exists=True, dir_okay=False))
@click.option("--topics", type=click.Path(exists=True, dir_okay=False), help="The declared topics: see LSQL_TOPICS.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@_reports_errors
def diff(old: str, new: str, topics: str | None, as_json: bool) -> int:
    """Print what a processor of the program OLD would do with its state if it ran NEW.

    For each INSERT: it keeps its state, keeps it and computes other results from here on, begins anew because its state
    cannot be continued, is added, or is removed. Topics are read from the brokers if SQL_BOOTSTRAP_SERVERS is set, else
    they must be declared.
    """
    from lsql_runner.plan.fingerprint import fingerprint
    from lsql_runner.plan.verdict import verdicts
    from lsql_runner.start.dry_run import plan_from_environment

    if topics is not None:
        os.environ.pop("LSQL_TOPICS", None)
        os.environ["LSQL_TOPICS_FILE"] = topics
    # One after the other: an error is shown in the program that has it.
    before, after = (plan_from_environment(_environment(path)).plan for path in (old, new))
    found = verdicts(after, fingerprint(before))
    if as_json:
        from lsql_runner.reports.responses import InsertReport

        _echo_json({"inserts": [InsertReport.of(each).model_dump(mode="json") for each in found]})
    for verdict in () if as_json else found:
        click.echo(f"INSERT INTO {verdict.target}: {verdict.verdict}")
        for change in verdict.changes:
            click.echo(f"- {change}")
    return 0


@cli.command()
@_file
@_reports_errors
def topology(path: str | None) -> int:
    """Print the plan as a graph, in JSON."""
    from lsql_runner.plan.topology import topology as topology_of
    from lsql_runner.start.dry_run import plan_from_environment

    _echo_json(topology_of(plan_from_environment(_environment(path)).plan))
    return 0


@cli.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@_reports_errors
def functions(name: str | None, as_json: bool) -> int:
    """List all functions, including LSQL_UDF_DIR, or describe one."""
    from lsql_runner.bind.functions.listing import NO_FUNCTIONS, as_documents, as_text
    from lsql_runner.user_functions.load import load_functions

    directory = _udf_dir()
    own = NO_FUNCTIONS if directory is None else load_functions(directory)
    if as_json:
        _echo_json(as_documents(name, own))
    else:
        click.echo(as_text(name, own), nl=False)
    return 0


@cli.group()
def state() -> None:
    """List, copy and change the state of a processor: that of SQL_APP_ID in SQL_STATE_STORE_DIR."""


@state.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@_reports_errors
def list_snapshots(as_json: bool) -> int:
    """List the snapshots, the oldest first."""
    from lsql_runner import offline

    found = offline.snapshots(os.environ)
    if as_json:
        _echo_json([{"name": each.name, **each.as_json()} for each in found])
        return 0
    for each in found:
        click.echo(f"{each.name}  {_time(each.at_ms)}  {each.size_bytes} bytes  {sum(each.positions.values())} records")
    return 0


@state.command()
@click.argument("name")
@_reports_errors
def snapshot(name: str) -> int:
    """Take a snapshot of the state, also while the processor runs.

    It has the program, and each query after its last batch, and is in the folder `snapshots` beside the state. On a
    volume it shares files with the state, so it takes no space until the state changes; at a URI it is a copy.
    """
    from lsql_runner import offline

    taken = offline.take_snapshot(os.environ, name)
    click.echo(f"The snapshot {name} has {len(taken.batches)} queries, and {sum(taken.positions.values())} records.")
    return 0


@state.command()
@click.argument("name")
@_reports_errors
def restore(name: str) -> int:
    """Let the next start continue from a snapshot. The processor must be stopped.

    Results after the snapshot are written again.
    """
    from lsql_runner import offline

    taken = offline.restore_snapshot(os.environ, name)
    click.echo(f"The next start continues from the snapshot {name} of {_time(taken.at_ms)}.")
    return 0


@state.command()
@click.argument("name")
@click.argument("app_id")
@_reports_errors
def clone(name: str, app_id: str) -> int:
    """Let another processor, which has no state yet, begin with a snapshot of this one.

    Start it with the same program and other targets.
    """
    from lsql_runner import offline

    offline.clone_snapshot(os.environ, name, app_id)
    click.echo(f"The first start of {app_id} continues from the snapshot {name}.")
    return 0


@state.command()
@click.option("--keep", type=click.IntRange(0), required=True, help="How many of the newest snapshots stay.")
@_reports_errors
def prune(keep: int) -> int:
    """Delete all snapshots but the newest ones."""
    from lsql_runner import offline

    for each in offline.prune_snapshots(os.environ, keep):
        click.echo(f"The snapshot {each.name} of {_time(each.at_ms)} is deleted.")
    return 0


def _time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="seconds")


@state.command()
@click.argument("store")
@click.option("--key", help="Only rows with this key: JSON of the type of the store's keys; a string without quotes.")
@click.option("--key-from", help="Only this key and greater ones.")
@click.option("--key-to", help="Only keys that are less than this one.")
@click.option("--window", help="Only the window that starts at this time: RFC 3339, or milliseconds since 1970 UTC.")
@click.option("--from", "since", help="Only windows that start at this time or later.")
@click.option("--to", "until", help="Only windows that start before this time.")
@click.option("--limit", default="100", show_default=True, help="The most rows.")
@click.option("--cursor", help="The cursor of the page before.")
@click.option("--partition", help="Only this partition of the state.")
@_reports_errors
def read(store: str, **given: str | None) -> int:
    """Print rows of a store, as GET /metadata/<store> does, also of a processor that is stopped or failed.

    They are those of the last batch that was saved. The program and its brokers are not needed.
    """
    from lsql_runner import offline
    from lsql_runner.api.store_query import as_json, store_query

    names = {"since": "from", "until": "to", "key_from": "keyFrom", "key_to": "keyTo"}
    query = store_query(store, {names.get(name, name): text for name, text in given.items() if text is not None})
    rows = offline.read_store(os.environ, query.read)
    click.echo(as_json(store, rows).decode())
    return 0


@state.command()
@click.argument("partitions", type=click.IntRange(1, MAX_PARTITIONS))
@_reports_errors
def repartition(partitions: int) -> int:
    """Divide the state into another number of partitions.

    The processor of SQL_APP_ID in SQL_STATE_STORE_DIR must be stopped. The program and its brokers are not needed. If
    the command is killed, the state is either the old or the new one; run it again.
    """
    from lsql_runner.offline import repartition as repartition_offline

    changed = repartition_offline(os.environ, partitions)
    if changed.was == changed.now:
        click.echo(f"The state has {changed.now} partitions already.")
        return 0
    click.echo(
        f"The state has {changed.now} partitions instead of {changed.was}; its generation is {changed.generation}."
    )
    click.echo("If state.partitions is set in the program or the environment, set it to this number before the start.")
    return 0


@cli.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True))
@click.option("--junit", type=click.Path(dir_okay=False), help="Write a JUnit XML report to this file.")
@click.option(
    "--kafka",
    "servers",
    metavar="BOOTSTRAP",
    help="Run the cases on these brokers, as a processor would: [PROTO://]host:port, separated by commas.",
)
@click.option("--registry", metavar="URL", help="The schema registry to use with the brokers.")
@_reports_errors
def test(paths: tuple[str, ...], junit: str | None, servers: str | None, registry: str | None) -> int:
    """Run case files: each has input records, a program and the expected records. Needs no Kafka.

    The programs can call the user-defined functions of LSQL_UDF_DIR.

    With --kafka the cases run on real brokers. Their topics must not exist; they are deleted afterwards. Credentials
    are environment variables, as for `lsql run`.
    """
    if registry is not None and servers is None:
        raise click.UsageError("--registry requires --kafka: without brokers schemas are in memory.")
    jvm = _case_jvm() if servers is None else None  # starts during the imports, which take as long

    from lsql_runner.cases.run import ServerAddresses, run_cases

    report = None if junit is None else Path(junit)
    target = jvm or ServerAddresses(servers or "", registry)
    return run_cases([Path(path) for path in paths], report, click.echo, target, _warn, _udf_dir())


def _case_jvm() -> SparkJvm:
    from lsql_runner.jvm.spark_jvm import SparkJvm, short_lived

    jars, archive = os.environ.get("LSQL_JARS_DIR"), os.environ.get("LSQL_CLASS_ARCHIVE")
    return SparkJvm(short_lived(Path(jars or JARS_DIR), Path(archive or CLASS_ARCHIVE), udf_dir=_udf_dir()))


def _udf_dir() -> Path | None:
    """LSQL_UDF_DIR: cases need no other setting of a processor, and no program in the environment."""
    directory = os.environ.get("LSQL_UDF_DIR")
    return Path(directory) if directory else None


def _warn(text: str) -> None:
    click.echo(text, err=True)


def _echo_json(document: Any) -> None:
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))
