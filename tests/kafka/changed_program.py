"""A processor whose program changes between its starts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from devkit.broker import Broker
from devkit.cluster_traffic import Traffic, TrafficReport
from devkit.in_process import InProcess, in_process
from devkit.records import Record
from devkit.runner import Runner
from devkit.waiting import wait_until
from lsql_runner.engine.processor import SparkEngine
from tests.conftest import TopicFactory

MINUTE = 60_000
T0 = 1_700_000_040_000
"""The beginning of a minute, and of five."""

COUNT = "SELECT STREAM COUNT(*) AS c FROM {source} GROUP BY g"
SUM = "SELECT STREAM COUNT(*) AS c, SUM(n) AS s FROM {source} GROUP BY g"
WINDOW = "SELECT STREAM COUNT(*) AS c FROM {source} WINDOW BY TUMBLE 1m GRACE BY 1s GROUP BY g"
WINDOW_SUM = "SELECT STREAM COUNT(*) AS c, SUM(n) AS s FROM {source} WINDOW BY TUMBLE 1m GRACE BY 1s GROUP BY g"
FINAL = "SET emit=final; "


class ChangedProgram:
    """One processor whose program changes; its source has the numbers 1, 2, 3, ..."""

    def __init__(self, broker: Broker, engine: SparkEngine, topic: TopicFactory, folder: Path) -> None:
        self._broker, self._engine, self._folder = broker, engine, folder
        self.source, self.target = topic("numbers", config={"retention.ms": "-1"}), topic("sums")
        self.number = 0
        value = {"format": "JSON", "schema": {"g": "string", "n": "long"}}
        self.declared: dict[str, object] = {self.source: {"value": value}}

    def add(self, times: Iterable[int]) -> None:
        """Write a record for each time."""
        records = []
        for time_ms in times:
            self.number += 1
            value = json.dumps({"g": "a", "n": self.number}).encode()
            records.append(Record(b"k", value, timestamp_ms=time_ms))
        self._broker.produce(self.source, records)

    def run(self, select: str, **settings: str) -> AbstractContextManager[InProcess]:
        settings_of_program, _, query = select.rpartition("; ")
        sql = f"{settings_of_program}; INSERT INTO {self.target} {query.format(source=self.source)}".lstrip("; ")
        return in_process(
            self._engine,
            self._broker.bootstrap,
            sql,
            f"app-{self.source}",
            self._folder,
            LSQL_TOPICS=json.dumps(self.declared),
            **settings,
        )

    def read_all(self, select: str, **settings: str) -> tuple[str, ...]:
        """Run until all records are read; returns the warnings."""
        with self.run(select, **settings) as running:
            running.read_to(self.number + len(self.declared) - 1)  # the other topics have one record each
            return running.status.warnings

    def results(self) -> list[dict[str, object]]:
        return [json.loads(record.value or b"") for record in self._broker.consume_all(self.target)]


class CountingIds:
    """A processor whose records each have a result of their own. Each version of its program has one more aggregate."""

    def __init__(self, broker: Broker, topic: TopicFactory, folder: Path, **settings: str) -> None:
        self._broker, self._folder, self._settings = broker, folder, settings
        self.source, self.target = topic("ids", partitions=3), topic("counts", partitions=3)
        self.traffic = Traffic(broker, self.source, per_second=200)

    def version(self, number: int, **settings: str) -> Runner:
        more = "".join(f", MAX(COALESCE(id, 0) + {each}) AS m{each}" for each in range(number))
        select = f"SELECT STREAM id, COUNT(*) AS n{more} FROM {self.source} GROUP BY id"
        declared = json.dumps({self.source: {"value": {"format": "JSON", "schema": {"id": "long"}}}})
        return Runner(
            self._broker.bootstrap,
            f"{self._settings.get('set', '')}INSERT INTO {self.target} {select}",
            f"app-{self.source}",
            self._folder,
            **{"LSQL_TOPICS": declared, **settings},
        )

    def check(self) -> None:
        """Each record that was written has one result."""
        report = self._report()
        assert (report.missing, report.unexpected, report.duplicates) == ((), (), 0), report

    def check_counts(self) -> None:
        """Each record that was written was counted once. Its result may be written again, with other aggregates."""
        report = self._report()
        assert (report.missing, report.unexpected) == ((), ()), report
        assert {json.loads(each.value or b"")["n"] for each in self._broker.consume_all(self.target)} == {1}

    def _report(self) -> TrafficReport:
        wait_until(lambda: self.traffic.compare_if_complete(self._broker, self.target) is not None, "all results", 90)
        return self.traffic.compare(self._broker, self.target)
