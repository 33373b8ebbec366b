"""The clients of brokers: librdkafka, and that of Java in a small JVM and in that of Spark."""

from functools import partial
from typing import Protocol

from devkit.jars import jar_folder
from lsql_runner.engine.broker_channel import SparkChannel
from lsql_runner.jvm.spark_jvm import SparkJvm
from lsql_runner.kafka.broker_jvm import BrokerJvm
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.java_brokers import JavaBrokers
from lsql_runner.kafka.librdkafka import LibrdkafkaBrokers
from lsql_runner.kafka.ports import Brokers


class ClientFactory(Protocol):
    """Opens a client of brokers; `request_timeout_s` is the deadline of each request."""

    def __call__(self, connection: KafkaConnection, request_timeout_s: float = 10) -> Brokers: ...


def java_brokers(
    connection: KafkaConnection, request_timeout_s: float = 10, java_options: tuple[str, ...] = ()
) -> JavaBrokers:
    """The client in the small JVM, with the jars of set-up."""
    return JavaBrokers(connection, BrokerJvm(jar_folder("jars"), java_options).start, request_timeout_s)


def spark_brokers(jvm: SparkJvm) -> ClientFactory:
    """The client in a JVM of Spark."""
    return lambda connection, request_timeout_s=10: JavaBrokers(
        connection, partial(SparkChannel, jvm), request_timeout_s
    )


CLIENTS: dict[str, ClientFactory] = {"librdkafka": LibrdkafkaBrokers, "java": java_brokers}
"""The clients that need no JVM of Spark."""
