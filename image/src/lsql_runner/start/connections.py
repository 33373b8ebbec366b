"""The connections of a processor to its brokers and its schema registry, as the settings describe them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext

from lsql_runner.config.settings import Settings
from lsql_runner.kafka.broker_jvm import BrokerJvm
from lsql_runner.kafka.channel import Channel
from lsql_runner.kafka.client_choice import open_brokers
from lsql_runner.kafka.ports import Brokers
from lsql_runner.kafka.registry import RestRegistry, SchemaRegistry


@contextmanager
def connections(
    settings: Settings, request_timeout_s: float = 10.0, open_channel: Callable[[], Channel] | None = None
) -> Iterator[tuple[Brokers, SchemaRegistry | None]]:
    """Brokers and registry; both are closed at the end of the block. The registry is None if the settings have none.

    Args:
        settings: the settings of the processor.
        request_timeout_s: the deadline of each request to the brokers, in seconds.
        open_channel: opens a channel to Kafka's Java client, if it is needed; a small JVM by default.

    Raises:
        LsqlError: as `brokers_of` and `registry_of`.
    """
    with closing(brokers_of(settings, request_timeout_s, open_channel)) as brokers:
        registry = registry_of(settings)
        with nullcontext() if registry is None else closing(registry):
            yield brokers, registry


def brokers_of(
    settings: Settings, request_timeout_s: float = 10.0, open_channel: Callable[[], Channel] | None = None
) -> Brokers:
    """The brokers, through a client that supports the connection's settings. The caller closes it.

    Args:
        settings: the settings of the processor.
        request_timeout_s: the deadline of each request, in seconds.
        open_channel: opens a channel to Kafka's Java client, if it is needed; a small JVM by default.

    Raises:
        LsqlError: ENV_MISSING, ENV_INVALID, KAFKA_SETTINGS_INVALID, JAVA_MISSING, JARS_MISSING.
    """
    small_jvm = BrokerJvm(settings.jars_dir, tuple(settings.java_options.split()))
    return open_brokers(settings.connection, open_channel or small_jvm.start, request_timeout_s)


def registry_of(settings: Settings) -> SchemaRegistry | None:
    """The schema registry; None if the settings have none. The caller closes it.

    Raises:
        LsqlError: ENV_INVALID.
    """
    return None if settings.registry is None else RestRegistry(settings.registry)
