"""When a processor is healthy, and the code of each reason why it is not."""

from dataclasses import replace

import pytest

from lsql_runner.errors import LsqlError, report
from lsql_runner.events.processor import Partition
from lsql_runner.events.state import State
from lsql_runner.status.health import assess, is_stuck
from lsql_runner.status.model import Status

STUCK_AFTER_MS = 60_000
P0 = Partition("cars", 0)
NO_RIGHTS = report(LsqlError("BROKER_REFUSED", servers="kafka:9092", reason="no rights"))
NO_BROKER = report(LsqlError("BROKER_UNREACHABLE", servers="kafka:9092", reason="refused"))
NO_SINK = report(LsqlError("SINK_UNREACHABLE", sink="shop", url="jdbc:postgresql://db/shop", reason="refused"))
NO_STORE = report(LsqlError("STATE_STORE_UNREACHABLE", uri="s3a://states/app", reason="refused"))
IN_USE = report(LsqlError("STATE_DIR_IN_USE", path="s3a://states/app", pid="7 on there"))
JVM_GONE = report(LsqlError("JVM_GONE", reason="killed"))
QUERY_FAILED = report(LsqlError("QUERY_FAILED", reason="boom"))


def running(position: int = 10, end: int = 10, lag_at_progress: int = 0) -> Status:
    """A running processor whose last batch ended at time 0."""
    return Status(state=State.RUNNING, positions={"a": {P0: position}}, ends={P0: end}, lag_at_progress=lag_at_progress)


def codes(status: Status, now_ms: int = 0) -> list[str]:
    return [reason.code for reason in assess(status, now_ms, STUCK_AFTER_MS).reasons]


@pytest.mark.parametrize(
    "state", [State.STARTING, State.WAITING, State.RUNNING, State.STOPPING, State.STOPPED, State.ENDED]
)
def test_these_states_are_healthy_however_long_they_last(state: State) -> None:
    assert assess(Status(state=state), 10**12, STUCK_AFTER_MS).ok


@pytest.mark.parametrize(
    ("status", "code", "text"),
    [
        (Status(jvm_error=JVM_GONE), "jvm-gone", "The Spark JVM ended: killed."),
        (Status(broker_error=NO_BROKER), "broker-unreachable", "The brokers at kafka:9092 are unreachable: refused."),
        (Status(broker_error=NO_RIGHTS), "broker-refused", "The brokers at kafka:9092 refused the client: no rights."),
        (Status(state=State.WAITING, reason=NO_SINK), "sink-unreachable", NO_SINK.message),
        (Status(state=State.WAITING, reason=NO_STORE), "store-unreachable", NO_STORE.message),
        (Status(state=State.WAITING, reason=IN_USE), "state-in-use", IN_USE.message),
        (Status(state=State.FAILED, reason=QUERY_FAILED), "failed", "The query failed: boom."),
        (Status(state=State.FAILED), "failed", "the processor failed"),
        (Status(state=State.RESTARTING, last_error=QUERY_FAILED), "query-died", "The query failed: boom."),
        (Status(state=State.RESTARTING), "query-died", "the query failed"),
    ],
)
def test_an_unhealthy_status_has_a_code_and_a_sentence(status: Status, code: str, text: str) -> None:
    (reason,) = assess(status, 0, STUCK_AFTER_MS).reasons

    assert (reason.code, reason.text) == (code, text)


def test_all_reasons_are_reported() -> None:
    assert codes(Status(state=State.FAILED, jvm_error=JVM_GONE, broker_error=NO_BROKER)) == [
        "jvm-gone",
        "broker-unreachable",
        "failed",
    ]


class TestStuck:
    def test_a_query_without_a_batch_is_stuck_if_the_lag_grew(self) -> None:
        (reason,) = assess(running(end=25), STUCK_AFTER_MS + 1, STUCK_AFTER_MS).reasons

        assert reason.code == "query-stuck"
        assert reason.text == "no batch ended for 60 s while the lag grew to 15 records"

    def test_a_query_is_not_stuck_before_the_limit(self) -> None:
        assert codes(running(end=25), STUCK_AFTER_MS) == []

    def test_an_idle_topic_is_not_stuck(self) -> None:
        assert codes(running(), 10**12) == []

    def test_a_constant_lag_is_not_stuck(self) -> None:
        assert codes(running(end=25, lag_at_progress=15), 10**12) == []

    @pytest.mark.parametrize("state", [s for s in State if s is not State.RUNNING], ids=lambda s: s.value)
    def test_only_a_running_processor_can_be_stuck(self, state: State) -> None:
        stuck = replace(running(end=25), state=state)

        assert is_stuck(stuck, 10**12, STUCK_AFTER_MS)
        assert "query-stuck" not in codes(stuck, 10**12)

    def test_a_query_is_not_stuck_while_the_broker_is_unreachable(self) -> None:
        assert codes(replace(running(end=25), broker_error=NO_BROKER), 10**12) == ["broker-unreachable"]
