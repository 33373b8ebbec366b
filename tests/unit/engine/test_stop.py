"""The stop of a plan: an error of one query does not keep the others from being stopped."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lsql_runner.engine import micro_batches, processor, query
from lsql_runner.engine.micro_batches import MicroBatchQuery
from lsql_runner.engine.port import Job, OutputOptions, SourceOptions
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.engine.query import RunningPlan
from lsql_runner.engine.run_all import run_all
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.pipeline import plan_text
from lsql_runner.state.folder import LocalFolder
from tests.golden.catalog import CATALOG

PROGRAM = """
    INSERT INTO t SELECT STREAM currency, COUNT(*) AS n FROM payments GROUP BY currency;
    INSERT INTO u SELECT STREAM id, COUNT(*) AS n FROM payments GROUP BY id;
"""


class FakeSpark:
    """Stands for session, queries and Java objects: records each call as `<object>.<method>`, and fails some."""

    def __init__(self, *failing: str) -> None:
        self.calls: list[str] = []
        self._failing = failing

    def call(self, name: str) -> None:
        self.calls.append(name)
        if name in self._failing:
            raise ZeroDivisionError(name)

    def object(self, name: str, *methods: str, **attributes: Any) -> Any:
        def method(of: str) -> Any:
            return lambda *_: self.call(f"{name}.{of}")

        return SimpleNamespace(**{of: method(of) for of in methods}, **attributes)

    def running(self, name: str, reports: Any) -> MicroBatchQuery:
        streaming = self.object(f"{name}.query", "stop", isActive=False, _jsq=SimpleNamespace(recentProgress=list))
        output = self.object(f"{name}.output", "stop", "close", transactionLimitMs=lambda: 0)
        return MicroBatchQuery(spark=cast(Any, None), name=name, streaming=streaming, output=output, reports=reports)

    def plan(self, monkeypatch: pytest.MonkeyPatch) -> RunningPlan:
        """A running plan with the queries `stateful-0` and `stateful-1`."""
        monkeypatch.setattr(micro_batches, "java_class", lambda _: self.object("trigger", "stop"))
        monkeypatch.setattr(query, "open_checkpoint", lambda _: None)
        monkeypatch.setattr(query, "BatchReports", lambda *_: self.object("reports", "close"))
        monkeypatch.setattr(query, "start_for_topics", lambda _, of, __, reports: self.running(of.name, reports))
        plan = plan_text(PROGRAM, CATALOG).plan
        kafka = KafkaConnection("nowhere:9092")
        return RunningPlan(
            cast(Any, None),
            Job(
                plan=plan,
                source=SourceOptions(kafka=kafka, app_id="app"),
                output=OutputOptions(kafka=kafka, app_id="app"),
                checkpoints=LocalFolder(Path()),
                on_batch=lambda _: None,
            ),
        )


STEPS = ("output.stop", "query.stop", "output.close")


@pytest.mark.parametrize("failing", [*(f"stateful-0.{step}" for step in STEPS), "trigger.stop", "reports.close"])
def test_every_query_is_stopped_if_one_step_fails(monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    spark = FakeSpark(failing)
    plan = spark.plan(monkeypatch)

    with pytest.raises(ZeroDivisionError, match=failing):
        plan.stop(drain=frozenset())

    ended = {f"stateful-{number}.{step}" for number in (0, 1) for step in STEPS} | {"reports.close"}
    assert ended <= set(spark.calls)


def test_the_first_error_is_raised_and_the_others_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    spark = FakeSpark("a.stop", "b.stop")

    with pytest.raises(ZeroDivisionError, match=r"a\.stop"):
        run_all([spark.object("a", "stop").stop, spark.object("b", "stop").stop])

    assert [getattr(record, "reason", None) for record in caplog.records] == ["ZeroDivisionError: b.stop"]


def test_an_engine_whose_plan_fails_to_stop_has_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = SparkEngine.__new__(SparkEngine)
    engine._running = FakeSpark("reports.close").plan(monkeypatch)

    with pytest.raises(ZeroDivisionError):
        engine.stop()

    engine.stop()
    assert engine.death({}, dict) is None


def test_an_engine_whose_plan_fails_to_stop_ends_session_and_jvm(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    spark = FakeSpark("reports.close")
    monkeypatch.setattr(processor, "forget_jvm", lambda: spark.call("forget"))
    engine = SparkEngine.__new__(SparkEngine)
    engine._running = spark.plan(monkeypatch)
    engine._jvm = spark.object("jvm", "close", is_alive=lambda: True)
    engine._opened = Future()
    engine._opened.set_result(spark.object("session", "stop"))

    engine.close()

    assert spark.calls[-3:] == ["session.stop", "jvm.close", "forget"]
    assert "the session did not end cleanly" in caplog.text
