"""The lines of the log: levels, format, masked secrets, and the lines of events."""

import io
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import structlog

from devkit.fake_processor import SCENARIOS, FakeProcessor
from devkit.fake_program import WARNING
from lsql_runner.config.log_levels import LEVELS
from lsql_runner.errors import LsqlError, report
from lsql_runner.events import processor as events
from lsql_runner.events.audit import Audited
from lsql_runner.events.processor import (
    AuditRecorded,
    BrokerFound,
    BrokerLost,
    LateRecordsDropped,
    ScalingDecided,
    WorkersChanged,
)
from lsql_runner.events.workers import JoinedWorker
from lsql_runner.observe.event_log import LATE_EVERY_MS, EventLog
from lsql_runner.observe.logs import configure
from lsql_runner.status.lifecycle import Cause


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _restore_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(False)
    structlog.reset_defaults()


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def log_of(processor: FakeProcessor, level: str = "INFO") -> io.StringIO:
    """The stream to which the processor's later events are logged."""
    stream = io.StringIO()
    configure(level, stream)
    processor.listeners.append(EventLog("fast-vehicles"))
    return stream


class TestLevels:
    @pytest.mark.parametrize(
        ("name", "level"),
        [
            ("WARN", logging.WARNING),
            ("warn", logging.WARNING),
            (" Trace ", logging.DEBUG),
            ("FATAL", logging.CRITICAL),
            ("INFO", logging.INFO),
        ],
    )
    def test_levels_have_the_names_of_log4j_in_upper_or_lower_case(self, name: str, level: int) -> None:
        configure(name, io.StringIO())

        assert logging.getLogger().level == level

    def test_an_unknown_level_is_refused_with_the_known_ones(self) -> None:
        with pytest.raises(LsqlError) as caught:
            configure("LOUD")

        assert caught.value.code == "ENV_INVALID"
        assert caught.value.params == {
            "name": "ROOT_LOG_LEVEL",
            "value": "LOUD",
            "expected": "one of " + ", ".join(LEVELS),
        }

    def test_off_logs_nothing(self) -> None:
        stream = io.StringIO()
        configure("OFF", stream)

        logging.getLogger("any").critical("hello")

        assert stream.getvalue() == ""

    @pytest.mark.parametrize(("level", "count"), [("DEBUG", 0), ("TRACE", 1)])
    def test_calls_of_libraries_are_logged_only_at_trace(self, level: str, count: int) -> None:
        stream = io.StringIO()
        configure(level, stream)

        logging.getLogger("urllib3.connectionpool").debug("GET /")

        assert len(lines(stream)) == count

    def test_calls_of_the_jvm_are_never_logged_because_they_have_credentials(self) -> None:
        stream = io.StringIO()
        configure("TRACE", stream)

        logging.getLogger("py4j.clientserver").debug("Command to send: ...")

        assert lines(stream) == []


class TestFormat:
    def test_lines_of_structlog_and_of_the_standard_library_have_the_same_fields(self) -> None:
        stream = io.StringIO()
        configure("INFO", stream, {"app_id": "x"})

        structlog.stdlib.get_logger("ours").info("one", n=1)
        logging.getLogger("theirs").warning("two %s", "words", extra={"n": 2})

        first, second = lines(stream)
        assert first.keys() == second.keys()
        assert (first["message"], first["logger"], first["level"], first["n"]) == ("one", "ours", "info", 1)
        assert (second["message"], second["logger"], second["level"], second["n"]) == (
            "two words",
            "theirs",
            "warning",
            2,
        )
        assert first["app_id"] == second["app_id"] == "x"
        assert first["timestamp"].endswith("Z")

    def test_an_exception_is_one_field_of_one_line(self) -> None:
        stream = io.StringIO()
        configure("INFO", stream)

        try:
            raise ValueError("boom")
        except ValueError:
            logging.getLogger("any").exception("failed")

        (line,) = lines(stream)
        assert line["exception"].endswith("ValueError: boom")

    @pytest.mark.parametrize(("includes_values", "shown"), [(True, True), (False, False)])
    def test_a_trace_has_messages_of_the_jvm_only_with_values(self, includes_values: bool, shown: bool) -> None:
        stream = io.StringIO()
        configure("INFO", stream, includes_values=includes_values)
        message = "An error:\n[CAST_INVALID_INPUT] The value 's3cr3t' is malformed"
        of_jvm: type[Exception] = type("Py4JJavaError", (Exception,), {"__module__": "py4j.protocol"})

        try:
            try:
                raise of_jvm(message)  # the trace has the lines of the code
            except of_jvm as error:
                raise ValueError("then this") from error
        except ValueError:
            logging.getLogger("any").exception("failed")

        (line,) = lines(stream)
        assert ("s3cr3t" in line["exception"]) is shown
        assert "py4j.protocol.Py4JJavaError" in line["exception"]
        assert line["exception"].endswith("ValueError: then this")

    def test_lines_on_a_terminal_are_text(self) -> None:
        stream = Terminal()
        configure("INFO", stream)

        structlog.stdlib.get_logger("ours").info("hello", n=1)

        assert "hello" in stream.getvalue()
        assert not stream.getvalue().startswith("{")

    def test_configuring_again_does_not_double_the_lines(self) -> None:
        stream = io.StringIO()
        configure("INFO", stream)
        configure("INFO", stream)

        logging.getLogger("any").info("once")

        assert len(lines(stream)) == 1


class TestSecrets:
    @pytest.mark.parametrize(
        "text",
        [
            'org.apache.kafka.PlainLoginModule required username="ada" password="hunter22";',
            "ssl.key.password=hunter22, other=1",
            "{'sasl.password': 'hunter22'}",
            "https://ada:hunter22@registry:8081/subjects",
            "Authorization: Bearer hunter22hunter22",
            "basic.auth.user.info=ada:hunter22",
        ],
    )
    def test_are_masked_in_any_text(self, text: str) -> None:
        stream = io.StringIO()
        configure("INFO", stream)

        logging.getLogger("any").info("settings: %s", text)
        structlog.stdlib.get_logger("ours").info("settings", given=text, nested={"list": [text]})

        assert "hunter22" not in stream.getvalue()
        assert stream.getvalue().count("***") >= 3

    @pytest.mark.parametrize(
        "key", ["password", "ssl.keystore.password", "SASL_JAAS_CONFIG", "apiKey", "token", "client_secret"]
    )
    def test_are_masked_by_the_name_of_their_key(self, key: str) -> None:
        stream = io.StringIO()
        configure("INFO", stream)

        structlog.stdlib.get_logger("ours").info("settings", **{key: "hunter22", "all": {key: "hunter22"}})

        assert "hunter22" not in stream.getvalue()

    def test_are_masked_in_traces_and_on_terminals(self) -> None:
        stream = Terminal()
        configure("INFO", stream)

        try:
            raise ValueError("password=hunter22")
        except ValueError:
            logging.getLogger("any").exception("failed")

        assert "hunter22" not in stream.getvalue()

    def test_texts_without_secrets_are_not_changed(self) -> None:
        stream = io.StringIO()
        configure("INFO", stream)
        text = "topic passwords-changed at kafka:9092, partition 3: tokens are fine, http://host:8083/stream"

        logging.getLogger("any").info(text)

        assert lines(stream)[0]["message"] == text


class TestEvents:
    def test_a_transition_is_logged_with_both_states_and_the_reason(self) -> None:
        processor = SCENARIOS["starting"]()
        stream = log_of(processor)

        processor.transition(Cause.WAIT, LsqlError("TOPIC_EMPTY", topic="cars"))

        (line,) = lines(stream)
        assert (line["old"], line["new"], line["level"]) == ("starting", "waiting", "warning")
        assert (line["code"], line["app_id"]) == ("TOPIC_EMPTY", "fast-vehicles")

    def test_a_failure_is_logged_as_an_error_with_the_way_out(self) -> None:
        processor = SCENARIOS["running"]()
        stream = log_of(processor)

        processor.transition(Cause.FAILED_PERMANENTLY, LsqlError("QUERY_FAILED", reason="boom"))

        (line,) = lines(stream)
        assert (line["level"], line["new"]) == ("error", "failed")
        assert line["way_out"] == "The processor restarts it. The log has the details."

    def test_batches_are_logged_only_at_debug(self) -> None:
        processor = SCENARIOS["running"]()
        at_info = log_of(processor)
        processor.batch()
        assert at_info.getvalue() == ""

        configure("DEBUG", at_debug := io.StringIO())
        processor.batch()
        assert [line["message"] for line in lines(at_debug)] == ["batch ended"]

    def test_plan_and_warnings_are_logged(self) -> None:
        processor = SCENARIOS["starting"]()
        stream = log_of(processor)

        processor.plan()

        planned, warning = lines(stream)
        assert (planned["sources"], planned["targets"]) == (
            ["vehicle-positions", "vehicles"],
            ["fast-vehicles"],
        )
        assert (warning["level"], warning["text"]) == ("warning", WARNING)

    def test_workers_that_join_and_leave_are_logged(self) -> None:
        processor = SCENARIOS["running"]()
        stream = log_of(processor)

        workers = (JoinedWorker("10.0.0.1:4000", 2), JoinedWorker("10.0.0.2:4000", 4, leaving=True))
        processor.emit(WorkersChanged(0, workers, joined=("10.0.0.1:4000",), left=("10.0.0.3:4000",)))

        (line,) = lines(stream)
        assert (line["message"], line["workers"], line["slots"]) == ("workers changed", 2, 6)
        assert (line["joined"], line["left"], line["leaving"]) == (
            ["10.0.0.1:4000"],
            ["10.0.0.3:4000"],
            ["10.0.0.2:4000"],
        )

    @pytest.mark.parametrize(("dry_run", "message"), [(False, "workers wanted"), (True, "would scale")])
    def test_a_wanted_number_of_workers_is_logged_when_it_changes(self, dry_run: bool, message: str) -> None:
        processor = SCENARIOS["running"]()
        stream = log_of(processor)

        first = ScalingDecided(
            at_ms=0, wanted=2, current=1, minimum=1, maximum=6, dry_run=dry_run, reason="a reason", lag_records=700
        )
        for event in (first.unknown(0, "a reason"), first, first, replace(first, wanted=3), first.unknown(0, "no lag")):
            processor.emit(event)

        logged = [(line["message"], line["wanted"], line["current"], line["lag"]) for line in lines(stream)]
        assert logged == [(message, 2, 1, 700), (message, 3, 1, 700), ("workers wanted", None, 1, None)]
        assert lines(stream)[-1]["reason"] == "no lag"

    def test_late_records_are_summed_up_and_logged_once_a_minute(self) -> None:
        processor = SCENARIOS["running"]()
        stream = log_of(processor)

        for at_ms in (0, 1_000, 2_000, LATE_EVERY_MS):
            processor.emit(LateRecordsDropped(at_ms, "a", 5))
        processor.emit(LateRecordsDropped(LATE_EVERY_MS, "b", 7))

        assert [(line["query"], line["count"]) for line in lines(stream)] == [("a", 5), ("a", 15), ("b", 7)]

    def test_repeated_waits_with_the_same_reason_are_logged_once(self) -> None:
        processor = SCENARIOS["starting"]()
        stream = log_of(processor)
        unreachable = LsqlError("BROKER_UNREACHABLE", servers="kafka:9092", reason="refused")

        for error in (unreachable, unreachable, LsqlError("TOPIC_EMPTY", topic="cars")):
            processor.transition(Cause.WAIT, error)
            processor.transition(Cause.RETRY)
        processor.transition(Cause.RUN)

        assert [(line["new"], line.get("code")) for line in lines(stream)] == [
            ("waiting", "BROKER_UNREACHABLE"),
            ("waiting", "TOPIC_EMPTY"),
            ("running", None),
        ]

    def test_repeated_losses_of_the_brokers_are_logged_once(self) -> None:
        processor = SCENARIOS["running"]()
        stream = log_of(processor)
        error = report(LsqlError("BROKER_UNREACHABLE", servers="kafka:9092", reason="refused"))

        for event in (BrokerLost(0, error), BrokerLost(1, error), BrokerFound(2), BrokerLost(3, error)):
            processor.emit(event)

        assert [line["message"] for line in lines(stream)] == ["broker lost", "broker found", "broker lost"]

    @pytest.mark.parametrize(("event", "level"), [("BrokerLost", "warning"), ("JvmGone", "critical")])
    def test_failures_are_logged_at_their_level(self, event: str, level: str) -> None:
        processor = SCENARIOS["running"]()
        stream = log_of(processor)

        processor.emit(getattr(events, event)(0, report(LsqlError("JVM_GONE", reason="r"))))

        assert [line["level"] for line in lines(stream)] == [level]


class TestAudit:
    RECORD = Audited(
        action="stop", processor="fast", user="ada", before={"state": "running"}, after={"state": "stopped"}
    )

    @pytest.mark.parametrize("level", ["INFO", "ERROR", "FATAL"])
    def test_a_line_has_all_fields_at_every_level(self, level: str) -> None:
        processor = SCENARIOS["running"]()
        stream = log_of(processor, level)

        processor.emit(AuditRecorded(0, self.RECORD))

        [line] = lines(stream)
        assert (line["message"], line["logger"], line["level"]) == ("audit", "lsql_runner.audit", "info")
        assert {name: line[name] for name in self.RECORD.fields()} == {
            "action": "stop",
            "processor": "fast",
            "user": "ada",
            "result": "done",
            "before": {"state": "running"},
            "after": {"state": "stopped"},
            "namespace": None,
            "kind": None,
            "id": None,
            "role": None,
            "address": None,
        }
        assert line["timestamp"]

    def test_a_refused_action_is_a_warning(self) -> None:
        processor = SCENARIOS["running"]()
        stream = log_of(processor)

        processor.emit(AuditRecorded(0, replace(self.RECORD, result="TRANSITION_REFUSED")))

        assert lines(stream)[0]["level"] == "warning"

    def test_off_has_no_audit_log(self) -> None:
        processor = SCENARIOS["running"]()
        stream = log_of(processor, "OFF")

        processor.emit(AuditRecorded(0, self.RECORD))

        assert lines(stream) == []
