"""A processor in a cluster with its topics and records, none of which may be lost."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from devkit.broker import Broker
from devkit.cluster_release import Helm, InstalledProcessor
from devkit.cluster_traffic import Traffic, TrafficReport

BEFORE = 50
"""Records that exist before the processor starts."""
RECORDS_S = 120


def program(source: str, target: str, mark: str = "one") -> str:
    """A program that copies every record and adds a mark, which identifies the program."""
    return f"INSERT INTO {target}\nSELECT STREAM id, '{mark}' AS mark\nFROM {source};\n"


def counting(source: str, target: str) -> str:
    """A program with state: it counts the records of each id. Each id has one record."""
    return (
        f"INSERT INTO {target}\nSELECT STREAM id, COUNT(*) AS n\nFROM {source}\n"
        "WINDOW BY TUMBLE 1s GRACE BY 1h\nGROUP BY id;\n"
    )


def declared(source: str) -> dict[str, Any]:
    """The chart value `topics`, so that no record has to be sampled."""
    return {source: {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": {"id": "long", "at": "long"}}}}


def image_values(image: str) -> dict[str, str]:
    """The chart value `image`."""
    registry, _, rest = image.partition("/")
    repository, _, tag = rest.rpartition(":")
    return {"registry": registry, "repository": repository, "tag": tag}


@dataclass
class ReleaseWithTraffic:
    """A release of a processor, with a topic that it reads and a topic that it writes.

    `values` are from the last install or upgrade.
    """

    helm: Helm
    broker: Broker
    image: str
    name: str = field(default_factory=lambda: f"load-{uuid.uuid4().hex[:6]}")
    partitions: int = field(default=2, kw_only=True)
    """Of the source topic."""

    def __post_init__(self) -> None:
        self.source, self.target = f"{self.name}-in", f"{self.name}-out"
        self.broker.create_topic(self.source, self.partitions)
        self.broker.create_topic(self.target, 2)
        self.traffic = Traffic(self.broker, self.source)
        self.sql = program(self.source, self.target)
        self.values: dict[str, Any] = {
            "sql": self.sql,
            "image": image_values(self.image),
            "kafka": {"bootstrapServers": self.broker.bootstrap},
            "topics": declared(self.source),
            "metricFrequencyMs": 500,
        }

    @property
    def processor(self) -> InstalledProcessor:
        """The processor of the release."""
        return InstalledProcessor(self.helm.kubectl, self.name)

    def install(self, **values: Any) -> InstalledProcessor:
        """Install the release with these values in addition to the default ones."""
        self.values |= values
        self.traffic.write(BEFORE)
        return self.helm.install(self.name, self.values)

    def upgrade(self, **values: Any) -> None:
        """Upgrade the release; these values replace the former ones of the same names."""
        self.values = merged(self.values, values)
        self.helm.upgrade(self.name, self.values)

    def await_records(self, deadline_s: float = RECORDS_S) -> TrafficReport:
        """Wait until every record that was written so far is in the target. AssertionError, with the lost ids, after
        the deadline.
        """
        deadline = time.monotonic() + deadline_s
        while (report := self.traffic.compare_if_complete(self.broker, self.target)) is None:
            if time.monotonic() > deadline:
                traffic = self.traffic.compare(self.broker, self.target)
                raise AssertionError(f"after {deadline_s} s: {traffic}\n{self.helm.kubectl.describe()}")
            time.sleep(0.3)
        return report

    def await_mark(self, mark: str, deadline_s: float = RECORDS_S) -> None:
        """Wait until the target has a record with this mark."""
        self.helm.kubectl.wait_until(lambda: mark in self.marks(), deadline_s, f"a record marked {mark}")

    def marks(self) -> list[str]:
        """The marks of all records in the target, in the order of their ids."""
        values = [json.loads(record.value or b"") for record in self.broker.consume_all(self.target)]
        return [value["mark"] for value in sorted(values, key=lambda value: int(value["id"]))]


def at_least_once(report: TrafficReport) -> bool:
    """Whether all duplicates are of repeated batches.

    A sink that is killed during a write writes the whole batch again, with the same number.
    """
    return report.duplicates == report.repeated_batch


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Values merged with others, map by map, as Helm merges them."""
    both = {name: merged(old[name], new[name]) for name in old.keys() & new.keys() if isinstance(new[name], Mapping)}
    return {**old, **new, **both}
