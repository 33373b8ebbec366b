"""How to reach the brokers, told once for both clients: librdkafka here and Kafka's own in the JVM."""

from __future__ import annotations

import re
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
            **_translated(dict(self.security)),
        }

    def spark(self) -> dict[str, str]:
        """Options for Spark's Kafka source and sink."""
        return {"kafka.bootstrap.servers": self.servers} | {f"kafka.{key}": value for key, value in self.security}


_SAME = ("security.protocol", "sasl.mechanism", "ssl.key.password", "ssl.endpoint.identification.algorithm")
_RENAMED = {"ssl.truststore.location": "ssl.ca.location", "ssl.truststore.certificates": "ssl.ca.pem"}
_JAAS = re.compile(r'(username|password)="((?:[^"\\]|\\.)*)"')


def _translated(security: dict[str, str]) -> dict[str, str]:
    """Kafka's client keys in librdkafka's spelling; those that only the JVM has a use for are left out."""
    found = {key: security[key] for key in _SAME if key in security}
    found |= {new: security[old] for old, new in _RENAMED.items() if old in security}
    for name, value in _JAAS.findall(security.get("sasl.jaas.config", "")):
        found[f"sasl.{name}"] = re.sub(r"\\(.)", r"\1", value)
    return found
