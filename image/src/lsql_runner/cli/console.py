"""`lsql-console`: the recovery job and the console. Exit codes: 0 ok, 1 wrong configuration, 2 usage, 3 runtime."""

from __future__ import annotations

import logging
import secrets
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lsql_runner.cli.exit_codes import exits_with_code
from lsql_runner.errors import EXIT_RUNTIME, LsqlError, render

if TYPE_CHECKING:
    from flask import Flask

    from lsql_runner.console.lightkube_cluster import LightkubeCluster
    from lsql_runner.console.settings import ConsoleSettings

CONFIG = Path("/etc/lsql-console/config.yaml")
LOG = logging.getLogger("lsql_runner.console")


def main() -> None:
    """The entry point of `lsql-console`."""
    cli(prog_name="lsql-console")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="lsql-runner")
def cli() -> None:
    """Finds the LSQL processors in namespaces of a cluster, publishes their states, and shows them on a page."""


_reports_errors = exits_with_code(render)

_config = click.option(
    "--config",
    "-c",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    default=CONFIG,
    show_default=True,
    help="The configuration file, which the chart writes.",
)


@cli.command()
@_config
@_reports_errors
def recover(path: Path) -> int:
    """Run the recovery job once: find all processors, assign missing ids, fetch their reports, publish the document."""
    from lsql_runner.console.recover import recover as run_job
    from lsql_runner.console.recover import summary
    from lsql_runner.console.runners import Runners

    settings = _configure(path)
    with ExitStack() as stack:
        cluster = _cluster(stack)
        runners = Runners(settings.limits)
        stack.callback(runners.close)
        outcome = run_job(cluster, runners.fetch_reports, settings, _now)
    document = outcome.document
    fields = {"processors": len(document.processors), "states": summary(document), "adopted": outcome.adopted}
    broken = sum(bool(entry.violations) for entry in document.processors)
    LOG.info("published", extra={**fields, "with_violations": broken, "unassigned": outcome.unassigned})
    return 0 if outcome.complete else EXIT_RUNTIME


@cli.command()
@_config
@_reports_errors
def serve(path: Path) -> int:
    """Serve the page and the API until a signal."""
    from lsql_runner.web.server import serve as run_server

    settings = _configure(path)
    open_until_exit = ExitStack()
    return run_server(lambda: _app(settings, open_until_exit), settings.port, open_until_exit.close)


@cli.command()
@click.argument("name")
@click.option("--role", type=click.Choice(["viewer", "operator"]), default="viewer", show_default=True)
@_reports_errors
def token(name: str, role: str) -> int:
    """Make a token for NAME. Prints the token, and the line to add to the token file."""
    from lsql_runner.console.auth import digest_of
    from lsql_runner.web.forwarded import USER_CHARS, is_user_name

    if len(name.split()) != 1 or not is_user_name(name):
        raise click.BadParameter(f"one word of at most {USER_CHARS} characters without commas", param_hint="NAME")
    value = secrets.token_urlsafe(32)
    click.echo(f"token: {value}\nline:  {name} {role} {digest_of(value)}")
    return 0


def _configure(path: Path) -> ConsoleSettings:
    from lsql_runner.console.settings import read_settings
    from lsql_runner.observe.logs import configure

    settings = read_settings(path)
    configure(settings.log_level)
    return settings


def _cluster(stack: ExitStack) -> LightkubeCluster:
    """The cluster of this pod, or of KUBECONFIG."""
    from lsql_runner.console.cluster import ClusterError
    from lsql_runner.console.lightkube_cluster import LightkubeCluster

    try:
        cluster = LightkubeCluster()
    except ClusterError as error:
        raise LsqlError("CLUSTER_UNREACHABLE", reason=str(error).rstrip(".")) from None
    stack.callback(cluster.close)
    return cluster


def _app(settings: ConsoleSettings, stack: ExitStack) -> Flask:
    """The console's app, with its threads running; `stack` ends them and closes connections."""
    from lsql_runner.console.actions import Operations
    from lsql_runner.console.app import ConsoleDependencies, create_app
    from lsql_runner.console.auth import open_authenticator
    from lsql_runner.console.dry_run_events import DryRunEvents
    from lsql_runner.console.history import History
    from lsql_runner.console.runners import Runners
    from lsql_runner.console.watch import ClusterWatch
    from lsql_runner.observe.console_metrics import ConsoleMetrics
    from lsql_runner.web.allowed_hosts import AllowedHosts, with_own_names

    authenticator = open_authenticator(settings.auth)
    cluster = _cluster(stack)
    runners = Runners(settings.limits)
    stack.callback(runners.close)
    history, metrics = History(), ConsoleMetrics()
    watch = ClusterWatch(
        cluster=cluster,
        fetch_reports=runners.fetch_reports,
        settings=settings,
        history=history,
        now=_now,
        listener=metrics,
        after_refresh=DryRunEvents(cluster) if settings.dry_run_events else None,
    )
    operations = Operations(
        cluster=cluster,
        runners=runners,
        watch=watch,
        allowed=settings.actions,
        maximum_workers=settings.workers.maximum,
        history=history,
        now=_now,
        listener=metrics,
    )
    app = create_app(
        ConsoleDependencies(
            settings=settings,
            cluster=cluster,
            runners=runners,
            watch=watch,
            history=history,
            operations=operations,
            authenticator=authenticator,
            hosts=AllowedHosts(with_own_names(settings.allowed_hosts), "allowedHosts", "console.allowedHosts"),
            listener=metrics,
            render_metrics=metrics.render,
        )
    )
    watch.start()
    stack.callback(watch.close)
    return app


def _now() -> datetime:
    return datetime.now(UTC)
