"""Writes the inputs of the workloads before the runs."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import fastavro

from bench.expected import BenchFailed
from bench.feed import send
from bench.vessels import INTERVAL_MS, REPORT_SCHEMA, Report, avro_schema, reports, rounds_of
from bench.workloads import Workload
from devkit.registry import Registry
from devkit.topics import Topics

JSON_TOPIC = "bench-reports"
AVRO_TOPIC = "bench-reports-avro"
_RESULT_FIELDS = ("MMSI", "Speed", "Long", "Lat", "Timestamp")


@dataclass(frozen=True, slots=True)
class Preloaded:
    """The inputs: the number of reports and the time of the first one."""

    count: int
    start_ms: int

    def reports(self) -> Iterator[Report]:
        """The reports again, which are the same."""
        return reports(self.count, self.start_ms)


def preload(
    broker: Topics, registry: Registry, workloads: Sequence[Workload], count: int, partitions: int
) -> Preloaded:
    """Create the topics that the workloads read, and write their records.

    The newest record is about a minute old, because a changelog topic of Kafka Streams deletes records that are older
    than its retention.

    Raises:
        BenchFailed: the broker does not have all records.
    """
    span_ms = (rounds_of(count) + 10) * INTERVAL_MS
    inputs = Preloaded(count, (int(time.time() * 1000) - span_ms) // 60_000 * 60_000)

    def write(topic: str, records: Iterable[tuple[bytes, bytes, int]]) -> None:
        broker.create_topic(topic, partitions)
        sent = send(broker.bootstrap, topic, records, count)
        if (written := sum(broker.end_offsets(topic).values())) != sent:
            raise BenchFailed(f"the broker has {written} of {sent} records of {topic}")

    if not all(workload.is_avro for workload in workloads):
        write(JSON_TOPIC, ((report.key, report.json(), report.at_ms) for report in inputs.reports()))
    if any(workload.is_avro for workload in workloads):
        encode = _avro_encoder(
            registry.register(f"{AVRO_TOPIC}-value", json.dumps(avro_schema("Report", REPORT_SCHEMA)))
        )
        write(AVRO_TOPIC, ((report.key, encode(report), report.at_ms) for report in inputs.reports()))
    for other in {workload.other.topic: workload.other for workload in workloads if workload.other}.values():
        write(other.topic, other.records(count, inputs.start_ms))
    return inputs


def register_results(registry: Registry, topic: str) -> int:
    """Register the schema of the results in AVRO, for the engines that do not; returns its id."""
    fields = {name: REPORT_SCHEMA[name] for name in _RESULT_FIELDS}
    return registry.register(f"{topic}-value", json.dumps(avro_schema("Fast", fields)))


def _avro_encoder(schema_id: int) -> Callable[[Report], bytes]:
    schema, head = fastavro.parse_schema(avro_schema("Report", REPORT_SCHEMA)), b"\0" + schema_id.to_bytes(4, "big")

    def encode(report: Report) -> bytes:
        body = io.BytesIO(head)
        body.seek(0, io.SEEK_END)
        fastavro.schemaless_writer(body, schema, report.value())
        return body.getvalue()

    return encode
