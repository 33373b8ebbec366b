"""A processor in a cluster with what feeds it: the release, its topics, and the records that it must not lose."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from devkit.broker import Broker
from devkit.cluster_release import Helm, Processor
from devkit.cluster_traffic import Outcome, Traffic

BEFORE = 50
"""Records that are there before the processor is."""
ARRIVAL_S = 120


def program(source: str, target: str, mark: str = "one") -> str:
    """An LSQL program that passes every record on, with a mark that names the program."""
    return f"INSERT INTO {target}\nSELECT STREAM id, '{mark}' AS mark\nFROM {source};\n"


def counting(source: str, target: str) -> str:
    """An LSQL program with state: a count for each id, of which there is one record."""
    return (
        f"INSERT INTO {target}\nSELECT STREAM id, COUNT(*) AS n\nFROM {source}\n"
        "WINDOW BY TUMBLE 1s GRACE BY 1h\nGROUP BY id;\n"
    )


def declared(source: str) -> dict[str, Any]:
    """The value `topics`, so that a program needs no record to be looked at."""
    return {source: {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": {"id": "long", "at": "long"}}}}


@dataclass
class Fed:
    """A release to be installed, or installed; `values` are what it was last given."""

    helm: Helm
    broker: Broker
    image: str
    name: str = field(default_factory=lambda: f"fed-{uuid.uuid4().hex[:6]}")

    def __post_init__(self) -> None:
        self.source, self.target = f"{self.name}-in", f"{self.name}-out"
        self.broker.create_topic(self.source, 2)
        self.broker.create_topic(self.target, 2)
        self.traffic = Traffic(self.broker, self.source)
        self.sql = program(self.source, self.target)
        registry, _, rest = self.image.partition("/")
        repository, _, tag = rest.rpartition(":")
        self.values: dict[str, Any] = {
            "sql": self.sql,
            "image": {"registry": registry, "repository": repository, "tag": tag},
            "kafka": {"bootstrapServers": self.broker.bootstrap},
            "topics": declared(self.source),
            "metricFrequencyMs": 500,
        }

    @property
    def processor(self) -> Processor:
        """The release, seen from outside."""
        return Processor(self.helm.kubectl, self.name)

    def install(self, **values: Any) -> Processor:
        """Installs it with these values beside its own."""
        self.values |= values
        self.traffic.write(BEFORE)
        return self.helm.install(self.name, self.values)

    def upgrade(self, **values: Any) -> None:
        """Upgrades it with these values in place of its own of those names."""
        self.values = merged(self.values, values)
        self.helm.upgrade(self.name, self.values)

    def arrive(self, deadline_s: float = ARRIVAL_S) -> Outcome:
        """Returns when every record written so far has come out; AssertionError with what is lost if not."""
        deadline = time.monotonic() + deadline_s
        while (outcome := self.traffic.arrived(self.broker, self.target)) is None:
            if time.monotonic() > deadline:
                found = self.traffic.outcome(self.broker, self.target)
                raise AssertionError(f"after {deadline_s} s: {found}\n{self.helm.kubectl.describe()}")
            time.sleep(0.3)
        return outcome

    def arrive_at_mark(self, mark: str, deadline_s: float = ARRIVAL_S) -> None:
        """Returns when a record with this mark has come out."""
        self.helm.kubectl.wait_until(lambda: mark in self.marks(), deadline_s, f"a record marked {mark}")

    def marks(self) -> list[str]:
        """The marks of all records that came out, in the order of their ids."""
        found = [json.loads(record.value or b"") for record in self.broker.consume_all(self.target)]
        return [value["mark"] for value in sorted(found, key=lambda value: int(value["id"]))]


def at_least_once(outcome: Outcome) -> bool:
    """What the sink promises when it is killed while it writes: the batch comes again whole, under its old number."""
    return outcome.doubled == outcome.of_one_batch


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Values with others laid over them, map by map, as Helm does it."""
    both = {name: merged(old[name], new[name]) for name in old.keys() & new.keys() if isinstance(new[name], Mapping)}
    return {**old, **new, **both}
