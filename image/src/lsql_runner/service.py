"""`lsql run`: settings to a served processor. The one module that puts all packages together."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from importlib.metadata import version
from pathlib import Path

from flask import Flask

from lsql_runner.api.app import create_app
from lsql_runner.bind.settings import bind_settings
from lsql_runner.config.settings import Settings, read_settings
from lsql_runner.container.limits import BROKERS_JVM_MIB, heap_mib, memory_limit_bytes
from lsql_runner.engine.port import Engine
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.errors import RUNTIME, LsqlError, render
from lsql_runner.jvm.spark_jvm import JvmOptions
from lsql_runner.kafka.choice import java_only_setting
from lsql_runner.observe.event_log import EventLog
from lsql_runner.observe.logs import configure
from lsql_runner.observe.metrics import Metrics
from lsql_runner.runtime.clock import now_ms
from lsql_runner.runtime.connections import connections
from lsql_runner.runtime.dependencies import RunDependencies
from lsql_runner.runtime.file_watch import FileWatch
from lsql_runner.runtime.port import Identity
from lsql_runner.runtime.statedir import StateDir
from lsql_runner.runtime.supervisor import Supervisor
from lsql_runner.sql.parser import parse
from lsql_runner.web.server import serve

LOG = logging.getLogger("lsql_runner.service")

_JVM_LEVELS = {"TRACE": "INFO", "DEBUG": "WARN"}
"""The JVM's log level by ROOT_LOG_LEVEL: logs of Spark and Kafka are only useful for debugging."""

_SHOW_DEATH_S = 3.0
"""After the JVM has ended, how long /health still shows why before the process ends too."""


def run(environment: Mapping[str, str]) -> int:
    """Run the processor that the environment describes, until a signal; the exit code.

    Raises:
        LsqlError: before anything starts: the settings or the program's text are wrong, the port is in use.
    """
    settings = read_settings(environment)
    parse(settings.sql)
    settings.connection  # noqa: B018  # wrong addresses are refused before the port is opened
    settings.declared  # noqa: B018
    configure(settings.log_level)
    open_until_exit = ExitStack()

    def make_app() -> Flask:
        try:
            supervisor, metrics = open_until_exit.enter_context(processor(settings))
        except LsqlError as error:
            if error.span is not None:  # the log line that follows does not show the place
                print(render(error, settings.sql), file=sys.stderr, flush=True)
            raise
        open_until_exit.callback(FileWatch(settings.files, _restart_with).close)
        return create_app(supervisor, metrics.render)

    return serve(make_app, settings.port, open_until_exit.close)


@contextmanager
def processor(settings: Settings, options: JvmOptions | None = None) -> Iterator[tuple[Supervisor, Metrics]]:
    """A running supervisor and its metrics. Both end with the block, and everything that they use.

    Args:
        settings: all of them.
        options: how the JVM is started; `jvm_options` by default.

    Raises:
        LsqlError: the program does not fit its topics, the state directory cannot be used, there is no Java,
            KAFKA_SETTINGS_INVALID.
    """
    program = parse(settings.sql)
    bind_settings(program.settings)
    with closing(StateDir(settings.state_dir, settings.app_id)) as state:
        # The JVM starts while the program is planned.
        engine = SparkEngine(settings.app_id, options or jvm_options(settings), settings.threads)
        with closing(engine), connections(settings) as (brokers, registry):
            identity = _identity(settings)
            supervisor = Supervisor(
                RunDependencies(
                    settings=settings,
                    program=program,
                    identity=identity,
                    brokers=brokers,
                    registry=registry,
                    engine=engine,
                    state=state,
                    on_jvm_gone=_end_with_the_jvm,
                )
            )
            metrics = Metrics(identity, supervisor.status)
            supervisor.listen(EventLog(settings.app_id))
            supervisor.listen(metrics)
            supervisor.launch()
            with closing(supervisor):
                yield supervisor, metrics


@contextmanager
def processor_on(
    engine: Engine, settings: Settings, on_jvm_gone: Callable[[], None], answer_s: float = 10.0
) -> Iterator[Supervisor]:
    """As `processor`, with a borrowed engine and no metrics and log: for tests of programs, users' and our own.

    Args:
        engine: stays open; it serves one processor after the other.
        settings: all of them.
        on_jvm_gone: called when the JVM has ended by itself.
        answer_s: the deadline of each request to the brokers.

    Raises:
        LsqlError: as `processor`.
    """
    program = parse(settings.sql)
    bind_settings(program.settings)
    with (
        closing(StateDir(settings.state_dir, settings.app_id)) as state,
        connections(settings, answer_s) as (brokers, registry),
    ):
        supervisor = Supervisor(
            RunDependencies(
                settings=settings,
                program=program,
                identity=_identity(settings),
                brokers=brokers,
                registry=registry,
                engine=engine,
                state=state,
                on_jvm_gone=on_jvm_gone,
            )
        )
        supervisor.launch()
        with closing(supervisor):
            yield supervisor


def jvm_options(settings: Settings) -> JvmOptions:
    """How a processor with these settings starts its JVM."""
    second_jvm_mib = 0 if java_only_setting(settings.connection) is None else BROKERS_JVM_MIB
    return JvmOptions(
        jars=settings.jars_dir,
        heap_mib=settings.heap_mib or heap_mib(memory_limit_bytes(), second_jvm_mib),
        java_options=tuple(settings.java_options.split()),
        class_archive=settings.class_archive,
        log_level=_JVM_LEVELS.get(settings.log_level, "OFF"),
    )


def _identity(settings: Settings) -> Identity:
    return Identity(
        app_id=settings.app_id,
        sql=settings.sql,
        user=settings.user,
        version=version("lsql-runner"),
        guarantee="at_least_once",
        started_at_ms=now_ms(),
    )


def _restart_with(changed: Path) -> None:
    """End the process in order, in gunicorn's worker. Whoever runs the process restarts it with the new value."""
    LOG.info("a file of the settings changed: ending, to be started with it", extra={"path": str(changed)})
    os.kill(os.getppid(), signal.SIGTERM)


def _end_with_the_jvm() -> None:
    """End the process, since its JVM has ended; a little later, so that a probe can still read why."""
    timer = threading.Timer(_SHOW_DEATH_S, os._exit, [RUNTIME])
    timer.daemon = True
    timer.start()
