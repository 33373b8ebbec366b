"""`lsql run`: settings to a served processor. The one place that puts the rooms together."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, nullcontext
from importlib.metadata import version
from pathlib import Path

from flask import Flask

from lsql_runner.api.app import create_app
from lsql_runner.bind.settings import bind_settings
from lsql_runner.config.settings import Settings, read_settings
from lsql_runner.container.limits import BROKERS_JVM_MIB, heap_mib, memory_limit_bytes
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.errors import RUNTIME, LsqlError, render
from lsql_runner.jvm.spark_jvm import JvmOptions
from lsql_runner.kafka.brokers import Brokers
from lsql_runner.kafka.choice import only_java_speaks
from lsql_runner.kafka.registry import SchemaRegistry
from lsql_runner.observe.event_log import EventLog
from lsql_runner.observe.logs import configure
from lsql_runner.observe.metrics import Metrics
from lsql_runner.runtime.clock import now_ms
from lsql_runner.runtime.file_watch import FileWatch
from lsql_runner.runtime.port import Identity
from lsql_runner.runtime.preparation import brokers_of, registry_of
from lsql_runner.runtime.statedir import StateDir
from lsql_runner.runtime.supervisor import Parts, Supervisor
from lsql_runner.sql.ast import Program
from lsql_runner.sql.parser import parse
from lsql_runner.web.server import serve

LOG = logging.getLogger("lsql_runner.service")

_JVM_LEVELS = {"TRACE": "INFO", "DEBUG": "WARN"}
"""The JVM's log level by ours: what Spark and Kafka say of their inner life is for those who debug."""

_SHOW_DEATH_S = 3.0
"""How long /health may still say why, once the JVM is gone, before the process ends with it."""


def run(environment: Mapping[str, str]) -> int:
    """Run the processor that the environment describes, until a signal; the exit code.

    Raises:
        LsqlError: before anything starts: the settings or the program's text are wrong, the port is in use.
    """
    settings = read_settings(environment)
    parse(settings.sql)
    settings.connection  # noqa: B018  # wrong addresses are refused before the port is bound
    settings.declared  # noqa: B018
    configure(settings.log_level)
    open_until_exit = ExitStack()

    def make_app() -> Flask:
        try:
            supervisor, metrics = open_until_exit.enter_context(processor(settings))
        except LsqlError as error:
            if error.span is not None:  # the log line that follows cannot show the place
                print(render(error, settings.sql), file=sys.stderr, flush=True)
            raise
        open_until_exit.callback(FileWatch(settings.files, _start_anew).close)
        return create_app(supervisor, metrics.render)

    return serve(make_app, settings.port, open_until_exit.close)


@contextmanager
def processor(settings: Settings, options: JvmOptions | None = None) -> Iterator[tuple[Supervisor, Metrics]]:
    """A supervisor at work, with its metrics; it ends in order, and all it used with it.

    Args:
        settings: all of them.
        options: how the JVM is started, where not by `jvm_options`.

    Raises:
        LsqlError: the program does not fit its topics, the state directory cannot be used, there is no Java,
            KAFKA_SETTINGS_INVALID.
    """
    program = parse(settings.sql)
    bind_settings(program.settings)
    with closing(StateDir(settings.state_dir, settings.app_id)) as state:
        # The JVM starts while the program is planned.
        engine = SparkEngine(settings.app_id, options or jvm_options(settings), settings.threads)
        with closing(engine), _asked(settings) as (brokers, registry):
            supervisor, metrics = _assembled(settings, program, brokers, registry, state, engine)
            supervisor.launch()
            with closing(supervisor):
                yield supervisor, metrics


@contextmanager
def processor_on(
    engine: SparkEngine, settings: Settings, on_jvm_gone: Callable[[], None], answer_s: float = 10.0
) -> Iterator[Supervisor]:
    """As `processor`, on an engine that is lent, unmeasured and without a log: for tests, of programs and of ours.

    Args:
        engine: stays open; it serves one processor after the other.
        settings: all of them.
        on_jvm_gone: what is to happen when the JVM ends by itself.
        answer_s: the deadline of each question to the brokers.

    Raises:
        LsqlError: as `processor`.
    """
    program = parse(settings.sql)
    bind_settings(program.settings)
    with (
        closing(StateDir(settings.state_dir, settings.app_id)) as state,
        _asked(settings, answer_s) as (brokers, registry),
    ):
        identity = _identity(settings)
        parts = Parts(settings, program, identity, brokers, registry, engine, state, (), on_jvm_gone)
        supervisor = Supervisor(parts)
        supervisor.launch()
        with closing(supervisor):
            yield supervisor


@contextmanager
def _asked(settings: Settings, answer_s: float = 10.0) -> Iterator[tuple[Brokers, SchemaRegistry | None]]:
    """The brokers and the registry of the settings."""
    with closing(brokers_of(settings, answer_s)) as brokers:
        registry = registry_of(settings)
        with nullcontext() if registry is None else closing(registry):
            yield brokers, registry


def jvm_options(settings: Settings) -> JvmOptions:
    """How a processor with these settings starts its JVM."""
    second_jvm_mib = 0 if only_java_speaks(settings.connection) is None else BROKERS_JVM_MIB
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


def _assembled(
    settings: Settings,
    program: Program,
    brokers: Brokers,
    registry: SchemaRegistry | None,
    state: StateDir,
    engine: SparkEngine,
) -> tuple[Supervisor, Metrics]:
    identity = _identity(settings)
    holder: list[Supervisor] = []
    metrics = Metrics(identity, lambda: holder[0].status())  # noqa: PLW0108  # made before what it asks
    listeners = (EventLog(settings.app_id), metrics)
    supervisor = Supervisor(
        Parts(settings, program, identity, brokers, registry, engine, state, listeners, _end_with_the_jvm)
    )
    holder.append(supervisor)
    return supervisor, metrics


def _start_anew(changed: Path) -> None:
    """End in order, in the worker: whoever started the process starts it again, with the new value."""
    LOG.info("a file of the settings changed: ending, to be started with it", extra={"path": str(changed)})
    os.kill(os.getppid(), signal.SIGTERM)


def _end_with_the_jvm() -> None:
    """The JVM is gone and so must be the process; a little later, so that a probe can still read why."""
    timer = threading.Timer(_SHOW_DEATH_S, os._exit, [RUNTIME])
    timer.daemon = True
    timer.start()
