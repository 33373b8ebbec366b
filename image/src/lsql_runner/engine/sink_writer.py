"""Writes batches to sinks, in the JVM. Checks the target before a start."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.sql import SparkSession

from lsql_runner.compile.sink_rows import row_columns
from lsql_runner.engine.port import Sinks, qualified_name
from lsql_runner.engine.sink_failures import sink_error
from lsql_runner.jvm.call import java_class
from lsql_runner.jvm.java_entries import SINK_WRITER
from lsql_runner.jvm.java_errors import errors_of
from lsql_runner.plan.queries import WriteSink
from lsql_runner.state.folder import StateFolder
from lsql_runner.state.offset_log import next_batch_id, renew_identity, run_id

_IDLE_TRANSACTION_S = 15
"""With a standby: a server ends a transaction whose client has sent nothing for this time. The client is suspended or
its node is lost, and the standby waits for its locks. A client that only waits for records sends its rows again."""


def renew_if_sink_is_ahead(writer: JavaObject, checkpoint: StateFolder, write: WriteSink, sinks: Sinks) -> bool:
    """Give a checkpoint a new run id if its sink has a later last batch. Returns whether it has.

    The last batch in a sink says which batches are written. An older checkpoint, for example on a volume that was
    restored from a snapshot, uses the numbers of written batches again, and their rows would be left out. Last batches
    of another run id are ignored.

    Raises:
        LsqlError: as `sink_writer`: the server does not answer, or refuses this client.
    """
    # A batch is planned in the checkpoint before its rows are written.
    with _errors_of_sink(write, sinks):
        newest = writer.newestBatch(str(uuid.UUID(run_id(checkpoint))))
    if newest < next_batch_id(checkpoint):
        return False
    renew_identity(checkpoint)
    return True


@contextmanager
def _errors_of_sink(write: WriteSink, sinks: Sinks) -> Iterator[None]:
    """Errors of the sink in the JVM have their codes."""
    try:
        yield
    except Py4JJavaError as error:
        raise sink_error(errors_of(error), write, sinks.connections) or error from None


def sink_writer(spark: SparkSession, app_id: str, query: str, write: WriteSink, sinks: Sinks) -> JavaObject:
    """A Java SINK_WRITER for the batches of a query. Its target exists, or was created, and accepts the rows.

    Raises:
        LsqlError: SINK_UNREACHABLE, SINK_REFUSED, SINK_CERTIFICATE_UNTRUSTED, SINK_TABLE_MISMATCH, QUERY_FAILED.
    """
    target, connection = write.target, sinks.connections[write.target.sink]
    names, types = row_columns(write)
    table = java_class(SINK_WRITER).table(
        target.table,
        names,
        types,
        list(target.key),
        target.mode == "upsert",
        target.creates,
        target.batch_rows,
        target.store,
    )
    settings = {
        "url": connection.url,
        "user": connection.user,
        "password": connection.password,
        "ca": connection.ca,
        "client": f"lsql {app_id}",
    }
    if sinks.has_standby:
        settings["idleTransactionS"] = str(_IDLE_TRANSACTION_S)
    writer = java_class(SINK_WRITER)(qualified_name(app_id, query), connection.kind, str(sinks.jars), settings, table)
    with _errors_of_sink(write, sinks):
        writer.prepare()
    return writer
