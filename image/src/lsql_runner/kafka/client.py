"""How to reach the brokers, told once for both clients: librdkafka here and Kafka's own in the JVM."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KafkaConnection:
    """`servers` is `host:port,...`; `security` holds Kafka's client keys (`security.protocol`, `sasl.*`, `ssl.*`)."""

    servers: str
    security: tuple[tuple[str, str], ...] = ()

    def librdkafka(self) -> dict[str, str | int | float | bool]:
        """Configuration for confluent-kafka's clients."""
        return {
            "bootstrap.servers": self.servers,
            "socket.connection.setup.timeout.ms": 5_000,
            "log_level": 0,
            **dict(self.security),
        }

    def spark(self) -> dict[str, str]:
        """Options for Spark's Kafka source and sink."""
        return {"kafka.bootstrap.servers": self.servers} | {f"kafka.{key}": value for key, value in self.security}
