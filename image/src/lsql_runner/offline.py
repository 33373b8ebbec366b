"""Commands on the state of a processor, without running it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from lsql_runner.config.settings import Settings, read_settings
from lsql_runner.engine.port import StoredRows, StoreRead
from lsql_runner.errors import LsqlError
from lsql_runner.jvm.spark_jvm import JvmOptions, SparkJvm
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.plan.stores import query_stores
from lsql_runner.runtime.clock import now_ms
from lsql_runner.service import jvm_options
from lsql_runner.start.saved_program import saved_program
from lsql_runner.state import snapshots as of_folder
from lsql_runner.state.directory import StateDir, state_path
from lsql_runner.state.folder import LocalFolder, StateFolder
from lsql_runner.state.repartition import Repartitioned, repartition_state
from lsql_runner.state.snapshots import Snapshot

if TYPE_CHECKING:
    from lsql_runner.engine.store_reads import StoreReads

_NO_BROKERS = KafkaConnection("127.0.0.1:9092")
"""For plans that are compiled and read no record."""


def snapshots(environment: Mapping[str, str], options: JvmOptions | None = None) -> list[Snapshot]:
    """As `state.snapshots.snapshots`, of the processor in the environment.

    Args:
        environment: with the name of the processor and its state directory, or the URI of its state; a program is not
            needed.
        options: of the JVM that reads state at a URI; by default the processor's options.

    Raises:
        LsqlError: as `read_settings`.
    """
    with _any_folder(_settings(environment), options) as folder:
        return of_folder.snapshots(folder)


def take_snapshot(environment: Mapping[str, str], name: str, options: JvmOptions | None = None) -> Snapshot:
    """As `state.snapshots.take_snapshot`, and as `snapshots`. The processor may run."""
    with _any_folder(_settings(environment), options) as folder:
        return of_folder.take_snapshot(folder, name, now_ms(), version("lsql-runner"))


def prune_snapshots(environment: Mapping[str, str], keep: int, options: JvmOptions | None = None) -> list[Snapshot]:
    """As `state.snapshots.prune_snapshots`, and as `snapshots`. The processor may run."""
    with _any_folder(_settings(environment), options) as folder:
        return of_folder.prune_snapshots(folder, keep)


def restore_snapshot(environment: Mapping[str, str], name: str, options: JvmOptions | None = None) -> Snapshot:
    """As `state.snapshots.restore_snapshot`, and as `snapshots`.

    Raises:
        LsqlError: STATE_DIR_IN_USE: the processor runs.
    """
    with _stopped(_settings(environment), options) as (state, _):
        return of_folder.restore_snapshot(state, name)


def clone_snapshot(
    environment: Mapping[str, str], name: str, app_id: str, options: JvmOptions | None = None
) -> Snapshot:
    """As `state.snapshots.clone_snapshot`, to the processor `app_id` in the same state directory; as `snapshots`."""
    settings = _settings(environment)
    with _stopped(_settings({**environment, "SQL_APP_ID": app_id}), options) as (state, _):
        return of_folder.clone_snapshot(_folder_of(settings), name, state)


def read_store(environment: Mapping[str, str], read: StoreRead, options: JvmOptions | None = None) -> StoredRows:
    """Rows of a store in the saved state of the processor in the environment, which need not run.

    Args:
        environment: with the name of the processor and its state directory; a program and brokers are not needed.
        read: which rows.
        options: of the JVM; by default the processor's options.

    Raises:
        LsqlError: STATE_MISSING, STORE_MISSING, STORE_NOT_LOADED; as `read_settings`, `saved_program` and
            `Engine.read_store`.
    """
    settings = _settings(environment)
    jvm = SparkJvm(options or jvm_options(settings))
    from lsql_runner.engine.repartition import offline_session
    from lsql_runner.engine.source import range_reader
    from lsql_runner.engine.store_reads import saved_reads

    with offline_session(jvm, 1, settings.state_store) as session:
        folder = _folder_of(settings)
        saved = saved_program(settings, folder)
        if saved is None:
            raise LsqlError("STATE_MISSING", path=str(folder))
        plan, checkpoints = saved
        stores = [each.name for query in plan.queries for each in query_stores(query)]
        if read.store not in stores:
            raise LsqlError("STORE_MISSING", store=read.store, stores=", ".join(stores) or "none")
        return _pages(saved_reads(session, plan, checkpoints, range_reader(session, _NO_BROKERS, {})), read)


def _pages(reads: StoreReads, read: StoreRead) -> StoredRows:
    """The rows of as many pages as the limit asks for: a page also ends after some time."""
    texts: list[str] = []
    left, cursor = read.limit, read.cursor
    while True:
        page = reads.read_saved(replace(read, limit=left, cursor=cursor))
        if page is None:
            raise LsqlError("STORE_NOT_LOADED", store=read.store)
        texts.append(page.rows[1:-1])
        left, cursor = left - len(json.loads(page.rows)), page.cursor
        if cursor is None or left <= 0:
            return replace(page, rows=f"[{','.join(text for text in texts if text)}]")


def _settings(environment: Mapping[str, str]) -> Settings:
    """The settings of a processor, whose program is not needed."""
    has_program = "SQL" in environment or "SQL_FILE" in environment
    return read_settings(environment if has_program else {**environment, "SQL": ""})


def repartition(environment: Mapping[str, str], partitions: int, options: JvmOptions | None = None) -> Repartitioned:
    """Divide the state of the processor in the environment into a number of partitions.

    Args:
        environment: with the name of the processor and its state directory; a program is not needed.
        partitions: the new number.
        options: of the JVM; by default the processor's options.

    Raises:
        LsqlError: as `read_settings`, `StateDir`, `repartition_state` and `engine.repartition`.
    """
    with _stopped(_settings(environment), options, partitions) as (state, session):

        def run(checkpoints: Sequence[StateFolder], number: int) -> None:
            from lsql_runner.engine.repartition import repartition

            with session() as opened:
                repartition(opened, checkpoints, number)

        return repartition_state(state, partitions, run)


def _folder_of(settings: Settings) -> StateFolder:
    """The folder of a processor. At a URI, the JVM that is connected reads it."""
    if settings.state_store is None:
        return LocalFolder(state_path(settings.state_dir, settings.app_id))
    from lsql_runner.state.uri_folder import UriFolder

    return UriFolder(settings.state_store.uri) / settings.app_id


@contextmanager
def _any_folder(settings: Settings, options: JvmOptions | None) -> Iterator[StateFolder]:
    """The folder of a processor, which may run, and a JVM for it if it is at a URI."""
    if settings.state_store is None:
        yield _folder_of(settings)
        return
    from lsql_runner.engine.repartition import offline_session

    with offline_session(SparkJvm(options or jvm_options(settings)), 1, settings.state_store):
        yield _folder_of(settings)


@contextmanager
def _stopped(
    settings: Settings, options: JvmOptions | None, partitions: int = 1
) -> Iterator[tuple[StateDir, Callable[[], AbstractContextManager[Any]]]]:
    """The state of a processor that does not run, with its lock, and what opens a session for it."""

    def start() -> SparkJvm:
        # It writes to the state, and keeps its lock if this process is killed.
        return SparkJvm(options or jvm_options(settings), (state.lock_file,))

    with closing(StateDir(settings.state_dir, settings.app_id, wait_s=0)) as state:
        if settings.state_store is not None:
            with _session_at_uri(settings, state, start(), partitions) as session:
                yield state, lambda: nullcontext(session)
            return

        def open_session() -> AbstractContextManager[Any]:
            from lsql_runner.engine.repartition import offline_session

            return offline_session(start(), partitions)

        yield state, open_session


@contextmanager
def _session_at_uri(settings: Settings, state: StateDir, jvm: SparkJvm, partitions: int) -> Iterator[Any]:
    """A session, and the state of a processor at a URI, with its lock."""
    from lsql_runner.engine.repartition import offline_session
    from lsql_runner.state.at_uri import StateAtUri

    folder = _folder_of(settings)

    def end(_: LsqlError) -> None:
        jvm.process.kill()  # the command fails, and has changed nothing

    with (
        offline_session(jvm, partitions, settings.state_store) as session,
        closing(StateAtUri(state, str(folder), lambda: folder, end)) as at_uri,
    ):
        at_uri.open()
        yield session
