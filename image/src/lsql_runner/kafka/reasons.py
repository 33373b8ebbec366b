"""Reasons of BROKER_UNREACHABLE, apart from the errors of the clients."""

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
EXITS = DetailTable(
    {
        "TIMEOUT": "it did not answer in time and was killed",
        "HEAP_TOO_SMALL": "its heap is too small for the response of the brokers",
        "SIGNAL": "it was killed by signal {signal}",
        "EXIT_CODE": "it exited with code {code}",
    }
)
"""How the JVM of the Kafka client ended."""
