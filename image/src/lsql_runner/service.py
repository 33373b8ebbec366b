"""`lsql run`: starts a processor and its API from settings.

Python's imports and the start of the JVM take about a second each. The JVM starts as soon as the settings and the text
of the program are checked; modules that are needed only afterwards are imported while it starts.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from lsql_runner.config.jvm_options import connector_mib, jvm_options_for
from lsql_runner.config.settings import Settings
from lsql_runner.container.budget import MemoryBudget, budget
from lsql_runner.container.limits import memory_limit_mib
from lsql_runner.errors import EXIT_RUNTIME, LsqlError, render
from lsql_runner.jvm.spark_jvm import JvmOptions, SparkJvm
from lsql_runner.observe.logs import configure
from lsql_runner.runtime.clock import now_ms
from lsql_runner.start.request import StartRequest, read_request
from lsql_runner.state.directory import StateDir
from lsql_runner.web.server import serve

if TYPE_CHECKING:
    from flask import Flask

    from lsql_runner.engine.port import Engine
    from lsql_runner.engine.processor import SparkEngine
    from lsql_runner.lease.leadership import LeaseLeadership
    from lsql_runner.observe.metrics import Metrics
    from lsql_runner.runtime.port import Identity
    from lsql_runner.runtime.supervisor import Supervisor

LOG = logging.getLogger("lsql_runner.service")


_EXIT_DELAY_S = 3.0
"""Time between the end of the JVM and the end of the process. /health reports the reason in this time."""


def run(environment: Mapping[str, str]) -> int:
    """Run the processor that the environment describes until a signal arrives; returns the exit code.

    Raises:
        LsqlError: before anything starts, if the settings or the text of the program are invalid or the port is in use.
    """
    request = read_request(environment)
    settings = request.settings
    configure(settings.log_level, includes_values=settings.errors_include_values)
    open_until_exit = ExitStack()

    def make_app() -> Flask:
        pids = (os.getpid(), os.getppid())  # the server's worker and its master
        try:
            supervisor, metrics = open_until_exit.enter_context(processor(request, python_pids=pids))
        except LsqlError as error:
            if error.span is not None:  # the log line of the error does not show the position
                print(render(error, settings.sql), file=sys.stderr, flush=True)
            raise
        from lsql_runner.api.access import access_of
        from lsql_runner.api.app import create_app
        from lsql_runner.config.host_names import host_patterns
        from lsql_runner.runtime.file_watch import FileWatch
        from lsql_runner.web.allowed_hosts import AllowedHosts, with_own_names

        open_until_exit.callback(FileWatch(settings.files, _stop_for_restart).close)
        hosts = AllowedHosts(with_own_names(host_patterns(settings.allowed_hosts)))
        access = access_of(settings)
        app = create_app(supervisor, metrics.render, access, hosts=hosts)
        if settings.lease is not None:
            from lsql_runner.api.forwarding import install

            install(app, supervisor, access)
        return app

    return serve(make_app, settings.port, open_until_exit.close, address=settings.bind_address)


@contextmanager
def processor(
    request: StartRequest, options: JvmOptions | None = None, python_pids: tuple[int, ...] = ()
) -> Iterator[tuple[Supervisor, Metrics]]:
    """A running supervisor and its metrics. Leaving the block stops them and closes everything that they use.

    Args:
        request: the settings of the processor, and its program.
        options: of the JVM; `jvm_options` by default.
        python_pids: the Python processes of the processor, whose memory is measured.

    Raises:
        LsqlError: the program does not fit its topics, the state directory cannot be used, JAVA_MISSING,
            KAFKA_SETTINGS_INVALID.
    """
    settings = request.settings
    has_lease = settings.lease is not None
    with closing(StateDir(settings.state_dir, settings.app_id, shared=has_lease)) as state, ExitStack() as until_end:
        of_program = replace(options or jvm_options(settings), is_continuous=request.is_continuous)
        jvm = SparkJvm(of_program, (state.lock_file,))  # starts while modules are imported
        from lsql_runner.engine.broker_channel import SparkChannel
        from lsql_runner.engine.processor import SparkEngine

        engine = SparkEngine(  # a thread opens the session
            settings.app_id, jvm, settings.threads, settings.workers, store=settings.state_store
        )
        from lsql_runner.observe.event_log import EventLog
        from lsql_runner.observe.metrics import Metrics
        from lsql_runner.runtime.dependencies import RunDependencies
        from lsql_runner.runtime.supervisor import Supervisor
        from lsql_runner.start.connections import connections

        with (
            closing(engine),
            _stored_state(settings, state, engine, jvm) as open_state,
            connections(settings, open_channel=partial(SparkChannel, jvm)) as (brokers, registry),
        ):
            memory = None if options else memory_budget(settings)
            identity = replace(_identity(request), memory=memory)
            leadership = _leadership(settings, jvm)
            if leadership is not None:
                until_end.callback(leadership.close)
            supervisor = Supervisor(
                RunDependencies(
                    request=request,
                    identity=identity,
                    brokers=brokers,
                    registry=registry,
                    engine=engine,
                    state=state,
                    open_state=open_state,
                    python_pids=python_pids,
                    on_jvm_gone=_end_with_the_jvm,
                    leadership=leadership,
                )
            )
            metrics = Metrics(identity, supervisor.status)
            supervisor.listen(EventLog(settings.app_id))
            supervisor.listen(metrics)
            supervisor.launch()
            with closing(supervisor):
                yield supervisor, metrics


@contextmanager
def processor_without_api(
    engine: Engine, request: StartRequest, on_jvm_gone: Callable[[], None], request_timeout_s: float = 10.0
) -> Iterator[Supervisor]:
    """Like `processor`, but with the caller's engine, and without metrics, log and API: for `lsql test` and tests.

    Args:
        engine: stays open, so that another processor can use it afterwards.
        request: the settings of the processor, and its program.
        on_jvm_gone: called when the JVM ends unexpectedly.
        request_timeout_s: the timeout of each request to the brokers, in seconds.

    Raises:
        LsqlError: see `processor`.
    """
    from lsql_runner.runtime.dependencies import RunDependencies
    from lsql_runner.runtime.supervisor import Supervisor
    from lsql_runner.start.connections import connections

    settings = request.settings
    with (
        closing(StateDir(settings.state_dir, settings.app_id)) as state,
        connections(settings, request_timeout_s) as (brokers, registry),
    ):
        supervisor = Supervisor(
            RunDependencies(
                request=request,
                identity=_identity(request),
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


def memory_budget(settings: Settings) -> MemoryBudget:
    """How a processor with these settings divides the memory of its container."""
    divided = budget(memory_limit_mib(), connector_mib(settings))
    return replace(divided, heap_mib=settings.heap_mib or divided.heap_mib)


def jvm_options(settings: Settings) -> JvmOptions:
    """The options of the JVM for a processor with these settings."""
    return jvm_options_for(settings, memory_budget(settings))


@contextmanager
def _stored_state(
    settings: Settings, state: StateDir, engine: SparkEngine, jvm: SparkJvm
) -> Iterator[Callable[[], None]]:
    """Yield the function that opens the state at LSQL_STATE_URI, if it is set. Its lock is released after the block."""
    store = settings.state_store
    if store is None:
        yield lambda: None
        return
    from lsql_runner.state.at_uri import StateAtUri
    from lsql_runner.state.uri_folder import UriFolder

    place = UriFolder(store.uri) / settings.app_id

    def folder() -> UriFolder:
        engine.session  # noqa: B018  # its JVM reads and writes the files
        return place

    lost = partial(_end_at_once, jvm)
    with closing(StateAtUri(state, str(place), folder, lost, has_lease=settings.lease is not None)) as at_uri:
        yield at_uri.open


def _identity(request: StartRequest) -> Identity:
    from lsql_runner.runtime.port import Identity

    settings = request.settings

    return Identity(
        app_id=settings.app_id,
        sql=settings.sql,
        user=settings.user,
        version=version("lsql-runner"),
        guarantee=request.guarantee,
        started_at_ms=now_ms(),
    )


def _leadership(settings: Settings, jvm: SparkJvm) -> LeaseLeadership | None:
    """The part of this process in the election of a leader; None without a Lease."""
    if settings.lease is None:
        return None
    from lsql_runner.lease.api import RestLeaseApi
    from lsql_runner.lease.election import Candidate
    from lsql_runner.lease.leadership import LeaseLeadership, own_host

    machine = socket.gethostname()
    host = settings.lease_host or own_host(machine)
    holder = f"{machine}_{uuid.uuid4()}"
    candidate = Candidate(holder, f"{host}:{settings.port}", settings.lease_seconds)
    return LeaseLeadership(
        RestLeaseApi(settings.lease), candidate, settings.lease_renew_seconds, partial(_end_replaced, settings, jvm)
    )


def _end_replaced(settings: Settings, jvm: SparkJvm) -> None:
    """End the process at once, because another one leads."""
    _end_at_once(jvm, LsqlError("PROCESSOR_REPLACED", app=settings.app_id))


def _end_at_once(jvm: SparkJvm, error: LsqlError) -> None:
    """End the process, because another one has its state, or may take it: it must not write any more."""
    jvm.process.kill()
    LOG.critical("another process may run the processor", extra={"code": error.code, "error": error.message})
    sys.stderr.flush()
    os._exit(EXIT_RUNTIME)


def _stop_for_restart(changed: Path) -> None:
    """Stop the process; Kubernetes starts it again, with the changed file. Runs in the worker of the server."""
    LOG.info("a settings file changed; the process stops so that it is restarted with it", extra={"path": str(changed)})
    os.kill(os.getppid(), signal.SIGTERM)


def _end_with_the_jvm() -> None:
    """End the process because its JVM has ended, after a delay in which a probe can read the reason."""
    timer = threading.Timer(_EXIT_DELAY_S, os._exit, [EXIT_RUNTIME])
    timer.daemon = True
    timer.start()
