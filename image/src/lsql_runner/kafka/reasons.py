"""Reasons of BROKER_UNREACHABLE and of missing rights, apart from the errors of the clients."""

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
RIGHTS = DetailTable(
    {
        "TOPIC": "the ACLs do not allow {rights} on the topic {topic}",
        "GROUP": "the ACLs do not allow Read on the group {name}",
        "TRANSACTIONAL_ID": "the ACLs do not allow Write on the transactional id {name}",
    }
)
"""Why the brokers would refuse the client: which rights it does not have."""
EXITS = DetailTable(
    {
        "TIMEOUT": "it did not answer in time and was killed",
        "HEAP_TOO_SMALL": "its heap is too small for the response of the brokers",
        "SIGNAL": "it was killed by signal {signal}",
        "EXIT_CODE": "it exited with code {code}",
    }
)
"""How the JVM of the Kafka client ended."""
