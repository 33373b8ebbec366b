"""Why brokers count as unreachable, where no client says so itself: the reasons of BROKER_UNREACHABLE."""

from __future__ import annotations

from lsql_runner.errors import DetailTable

REASONS = DetailTable(
    {
        "TIMEOUT": "no answer within {seconds} s",
        "NO_RECORD": "no record within {seconds} s",
        "NO_LEADER": "no leader for {topic}, partition {partition}",
        "CLOSED": "the client is closed",
        "JVM_GONE": "the JVM of the Kafka client ended: {reason}",
    }
)
DEATHS = DetailTable(
    {
        "TIMEOUT": "it did not answer in time and was ended",
        "HEAP_TOO_SMALL": "its heap is too small for the answer of the brokers",
        "SIGNAL": "it was killed by signal {signal}",
        "EXIT_CODE": "it exited with code {code}",
    }
)
"""How the small JVM that asks brokers ended."""
