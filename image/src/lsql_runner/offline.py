"""Commands on the state of a processor, without running it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from importlib.metadata import version

from lsql_runner.config.settings import Settings, read_settings
from lsql_runner.config.state_store import UriStore
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

_NO_BROKERS = KafkaConnection("127.0.0.1:9092")
"""For plans that are compiled and read no record."""


def snapshots(environment: Mapping[str, str]) -> list[Snapshot]:
    """As `state.snapshots.snapshots`, of the processor in the environment.

    Raises:
        LsqlError: as `read_settings`; SNAPSHOTS_ON_VOLUMES.
    """
    return of_folder.snapshots(_directory(_settings(environment)))


def take_snapshot(environment: Mapping[str, str], name: str) -> Snapshot:
    """As `state.snapshots.take_snapshot`, and as `snapshots`. The processor may run."""
    return of_folder.take_snapshot(_directory(_settings(environment)), name, now_ms(), version("lsql-runner"))


def prune_snapshots(environment: Mapping[str, str], keep: int) -> list[Snapshot]:
    """As `state.snapshots.prune_snapshots`, and as `snapshots`. The processor may run."""
    return of_folder.prune_snapshots(_directory(_settings(environment)), keep)


def restore_snapshot(environment: Mapping[str, str], name: str) -> Snapshot:
    """As `state.snapshots.restore_snapshot`, and as `snapshots`.

    Raises:
        LsqlError: STATE_DIR_IN_USE: the processor runs.
    """
    settings = _settings(environment)
    _directory(settings)
    with closing(StateDir(settings.state_dir, settings.app_id, wait_s=0)) as state:
        return of_folder.restore_snapshot(state, name)


def clone_snapshot(environment: Mapping[str, str], name: str, app_id: str) -> Snapshot:
    """As `state.snapshots.clone_snapshot`, to the processor `app_id` in the same state directory; as `snapshots`."""
    other = _settings({**environment, "SQL_APP_ID": app_id})
    source = _directory(_settings(environment))
    with closing(StateDir(other.state_dir, other.app_id, wait_s=0)) as state:
        return of_folder.clone_snapshot(source, name, state)


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
    store = settings.state_store
    jvm = SparkJvm(options or jvm_options(settings))
    from lsql_runner.engine.repartition import offline_session
    from lsql_runner.engine.source import range_reader
    from lsql_runner.engine.store_reads import saved_reads
    from lsql_runner.state.uri_folder import UriFolder

    with offline_session(jvm, 1, store) as session:
        local = LocalFolder(state_path(settings.state_dir, settings.app_id))
        folder: StateFolder = local if store is None else UriFolder(store.uri) / settings.app_id
        saved = saved_program(settings, folder)
        if saved is None:
            raise LsqlError("STATE_MISSING", path=str(folder))
        plan, checkpoints = saved
        stores = [each.name for query in plan.queries for each in query_stores(query)]
        if read.store not in stores:
            raise LsqlError("STORE_MISSING", store=read.store, stores=", ".join(stores) or "none")
        rows = saved_reads(session, plan, checkpoints, range_reader(session, _NO_BROKERS, {})).read_saved(read)
    if rows is None:
        raise LsqlError("STORE_NOT_LOADED", store=read.store)
    return rows


def _settings(environment: Mapping[str, str]) -> Settings:
    """The settings of a processor, whose program is not needed."""
    has_program = "SQL" in environment or "SQL_FILE" in environment
    return read_settings(environment if has_program else {**environment, "SQL": ""})


def _directory(settings: Settings) -> LocalFolder:
    """The directory of a processor with its state, which must be on a volume."""
    if settings.state_store is not None:
        raise LsqlError("SNAPSHOTS_ON_VOLUMES", uri=settings.state_store.uri)
    return LocalFolder(state_path(settings.state_dir, settings.app_id))


def repartition(environment: Mapping[str, str], partitions: int, options: JvmOptions | None = None) -> Repartitioned:
    """Divide the state of the processor in the environment into a number of partitions.

    Args:
        environment: with the name of the processor and its state directory; a program is not needed.
        partitions: the new number.
        options: of the JVM; by default the processor's options.

    Raises:
        LsqlError: as `read_settings`, `StateDir`, `repartition_state` and `engine.repartition`.
    """
    settings = _settings(environment)
    with closing(StateDir(settings.state_dir, settings.app_id, wait_s=0)) as state:

        def start() -> SparkJvm:
            # It writes to the directory, and keeps its lock if this process is killed.
            return SparkJvm(options or jvm_options(settings), (state.lock_file,))

        def run(checkpoints: Sequence[StateFolder], number: int) -> None:
            from lsql_runner.engine.repartition import offline_session, repartition

            with offline_session(start(), number) as session:
                repartition(session, checkpoints, number)

        store = settings.state_store
        if store is None:
            return repartition_state(state, partitions, run)
        return _repartition_at_uri(store, state, start(), partitions)


def _repartition_at_uri(store: UriStore, state: StateDir, jvm: SparkJvm, partitions: int) -> Repartitioned:
    from lsql_runner.engine.repartition import offline_session, repartition
    from lsql_runner.state.at_uri import StateAtUri
    from lsql_runner.state.uri_folder import UriFolder

    folder = UriFolder(store.uri) / state.path.name

    def end(_: LsqlError) -> None:
        jvm.process.kill()  # the command fails, and has changed nothing

    with (
        offline_session(jvm, partitions, store) as session,
        closing(StateAtUri(state, str(folder), lambda: folder, end)) as at_uri,
    ):
        at_uri.open()
        return repartition_state(state, partitions, partial(repartition, session))
