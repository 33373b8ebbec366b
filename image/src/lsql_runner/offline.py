"""Commands on the state of a stopped processor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial

from lsql_runner.config.settings import read_settings
from lsql_runner.config.state_store import UriStore
from lsql_runner.errors import LsqlError
from lsql_runner.jvm.spark_jvm import JvmOptions, SparkJvm
from lsql_runner.service import jvm_options
from lsql_runner.state.directory import StateDir
from lsql_runner.state.folder import StateFolder
from lsql_runner.state.repartition import Repartitioned, repartition_state


def repartition(environment: Mapping[str, str], partitions: int, options: JvmOptions | None = None) -> Repartitioned:
    """Divide the state of the processor in the environment into a number of partitions.

    Args:
        environment: with the name of the processor and its state directory; a program is not needed.
        partitions: the new number.
        options: of the JVM; by default the processor's options.

    Raises:
        LsqlError: as `read_settings`, `StateDir`, `repartition_state` and `engine.repartition`.
    """
    has_program = "SQL" in environment or "SQL_FILE" in environment
    settings = read_settings(environment if has_program else {**environment, "SQL": ""})
    with closing(StateDir(settings.state_dir, settings.app_id, wait_s=0)) as state:

        def start() -> SparkJvm:
            # It writes to the directory, and keeps its lock if this process is killed.
            return SparkJvm(options or jvm_options(settings), (state.lock_file,))

        def run(checkpoints: Sequence[StateFolder], number: int) -> None:
            from lsql_runner.engine.repartition import repartition, repartition_session

            with repartition_session(start(), number) as session:
                repartition(session, checkpoints, number)

        store = settings.state_store
        if store is None:
            return repartition_state(state, partitions, run)
        return _repartition_at_uri(store, state, start(), partitions)


def _repartition_at_uri(store: UriStore, state: StateDir, jvm: SparkJvm, partitions: int) -> Repartitioned:
    from lsql_runner.engine.repartition import repartition, repartition_session
    from lsql_runner.state.at_uri import StateAtUri
    from lsql_runner.state.uri_folder import UriFolder

    folder = UriFolder(store.uri) / state.path.name

    def end(_: LsqlError) -> None:
        jvm.process.kill()  # the command fails, and has changed nothing

    with (
        repartition_session(jvm, partitions, store) as session,
        closing(StateAtUri(state, str(folder), lambda: folder, end)) as at_uri,
    ):
        at_uri.open()
        return repartition_state(state, partitions, partial(repartition, session))
