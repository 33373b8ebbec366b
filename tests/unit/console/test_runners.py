"""Fetching the reports of runners: their content, missing responses, and time limits."""

from __future__ import annotations

import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ci.tools.ports import free_port
from devkit.fake_cluster import FakeCluster, workload
from devkit.fake_runner_server import HEALTHY, Answers, runners, stream
from devkit.registry_proxies import PageServer
from lsql_runner.console.document import RunnerReport
from lsql_runner.console.runners import Limits, Runners, RunnerUnavailable, read_report, service_address
from lsql_runner.console.workloads import ProcessorWorkload, read_processor
from lsql_runner.errors import LsqlError

FAILING = {"status": "failing", "state": "failed", "reasons": [{"code": "x", "text": "It is stuck."}]}


def processor(name: str = "fast-vehicles", **options: Any) -> ProcessorWorkload:
    return read_processor(FakeCluster().add(workload(name, **options)), "Deployment")


@contextmanager
def client(answers: Answers, limits: Limits = Limits()) -> Iterator[Runners]:  # noqa: B008  # frozen
    with runners(answers) as address_of:
        asking = Runners(limits, address_of)
        try:
            yield asking
        finally:
            asking.close()


def fetched(answers: Answers, limits: Limits = Limits()) -> RunnerReport:  # noqa: B008  # frozen
    with client(answers, limits) as asking:
        return asking.fetch_report(processor())


def test_the_address_of_a_runner_is_that_of_its_service() -> None:
    assert service_address(processor(env={"SQL_PORT": "9999"})) == "http://fast-vehicles.streams.svc:9999"


def test_the_report_has_state_lag_rates_and_topics() -> None:
    report = fetched(Answers())

    assert (report.state, report.healthy, report.lag, report.unreachable) == ("running", True, 7, None)
    assert (report.records_in_per_second, report.records_out_per_second) == (12.5, 2.5)
    assert (report.topics_in, report.topics_out) == (("vehicles",), ("fast",))
    assert report.runner_version == "0.1.0"


def test_the_report_of_a_failing_runner_has_the_reason() -> None:
    reason = {"code": "QUERY_FAILED", "message": "The query stopped.", "wayOut": "Wait.", "params": {}}
    answers = Answers(
        {
            "/fast-vehicles/stream": (200, stream(state="failed", reason=reason, lastError=reason)),
            "/fast-vehicles/health": (503, FAILING),
        }
    )

    report = fetched(answers)

    assert (report.state, report.healthy, report.health_reasons) == ("failed", False, ("It is stuck.",))
    assert report.reason is not None
    assert (report.reason.code, report.reason.message) == ("QUERY_FAILED", "The query stopped.")


def test_long_texts_are_cut() -> None:
    error = {"code": "X" * 100, "message": "m" * 100_000, "wayOut": ""}
    topics = [{"topic": f"{number:0300}", "role": "source"} for number in range(500)]

    report = read_report(stream(lastError=error, topics=topics), HEALTHY)

    assert report.last_error is not None
    assert (len(report.last_error.code), len(report.last_error.message)) == (64, 500)
    assert len(report.topics_in) == 100


def test_a_workload_without_replicas_gets_no_request() -> None:
    answers = Answers()

    with client(answers) as asking:
        assert asking.fetch_report(processor(replicas=0)).state == "scaled-down"

    assert answers.requests == []


@pytest.mark.parametrize(
    ("path", "status", "body", "why"),
    [
        ("stream", 500, {}, "GET /stream returned HTTP 500"),
        ("stream", 302, {}, "GET /stream returned HTTP 302"),
        ("stream", 200, b"<html>", "GET /stream did not return JSON"),
        ("stream", 200, b"[" * 100_000, "GET /stream did not return JSON"),
        ("stream", 200, {"state": "dancing"}, "the response is not from a processor"),
        ("stream", 200, ["state"], "the response is not from a processor"),
        ("stream", 200, b" " * 5_000_000, "GET /stream returned more than 4194304 bytes"),
        ("health", 200, b"", "GET /health did not return JSON"),
    ],
)
def test_a_runner_with_an_invalid_response_is_unreachable(path: str, status: int, body: Any, why: str) -> None:
    report = fetched(Answers({f"/fast-vehicles/{path}": (status, body)}))

    assert (report.state, report.unreachable) == ("unreachable", why)


def test_a_packed_response_is_not_unpacked() -> None:
    packing = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    packed = b"".join([*(packing.compress(b" " * 2**20) for _ in range(128)), packing.flush()])
    with PageServer(200, packed, "application/json", "gzip") as server:
        asking = Runners(Limits(), lambda p: server.url)
        tracemalloc.start()
        try:
            report = asking.fetch_report(processor())
            _, peak_bytes = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
            asking.close()

    assert report.unreachable == "GET /stream did not return JSON"
    assert peak_bytes < 4 * 2**20


def test_a_silent_runner_costs_one_timeout() -> None:
    answers = Answers(silent=lambda name: True)
    begun = time.monotonic()

    report = fetched(answers, Limits(timeout_s=0.3))

    assert report.unreachable == "GET /stream had no response within 0.3 s"
    assert time.monotonic() - begun < 5
    assert [path for _, path, _ in answers.requests] == ["/fast-vehicles/stream"]


def test_a_runner_that_does_not_exist_is_unreachable() -> None:
    port = free_port()
    asking = Runners(Limits(), lambda p: f"http://127.0.0.1:{port}")

    report = asking.fetch_report(processor())
    asking.close()

    assert report.state == "unreachable"
    assert "refused" in (report.unreachable or "")


class TestMany:
    def test_fifty_silent_runners_of_a_thousand_cost_a_bounded_time(self) -> None:
        answers = Answers(silent=lambda name: name.endswith(("07", "27", "47", "67", "87")))
        known = [processor(f"p-{number}") for number in range(1000)]
        begun = time.monotonic()

        with client(answers, Limits(timeout_s=4, parallel=32, pass_s=50)) as asking:
            reports = asking.fetch_reports(known)

        # One after the other the silent runners would take 200 s; 32 at once take 8.
        assert time.monotonic() - begun < 40
        assert len(reports) == 1000
        silent = {p.key for p in known if answers.silent(p.name)}
        assert {key for key, live in reports.items() if live.state == "unreachable"} == silent
        assert 1 < answers.max_concurrent <= 32

    def test_runners_without_a_report_at_the_time_limit_are_unreachable(self) -> None:
        answers = Answers(silent=lambda name: True)
        known = [processor(f"p-{number}") for number in range(50)]
        begun = time.monotonic()

        with client(answers, Limits(timeout_s=0.5, parallel=2, pass_s=0.7)) as asking:
            reports = asking.fetch_reports(known)

        assert time.monotonic() - begun < 5
        assert reports[known[-1].key].unreachable == "no report within 0.7 s, the time limit for all processors"
        assert len(reports) == 50


class TestPost:
    def test_the_request_names_the_user(self) -> None:
        answers = Answers()

        with client(answers) as asking:
            asking.post(processor(), "stop", "ada")

        assert answers.requests == [("POST", "/fast-vehicles/stop", "ada")]

    def test_the_request_has_the_token_of_the_runner(self) -> None:
        answers = Answers()

        with client(answers) as asking:
            asking.post(processor(), "stop", "ada", "t-runner")
            asking.post(processor(), "stop", "ada")

        assert answers.authorizations == ["Bearer t-runner", ""]

    def test_a_user_name_may_have_any_alphabet(self) -> None:
        answers = Answers()

        with client(answers) as asking:
            asking.post(processor(), "stop", "Žofie")

        assert answers.requests[0][2] == "Žofie".encode().decode("latin-1")

    def test_a_refusal_is_reported_with_the_message_of_the_runner(self) -> None:
        problem = {"detail": "The processor cannot stop while it is ended.", "wayOut": "Wait."}
        answers = Answers({"/fast-vehicles/stop": (409, problem)})

        with client(answers) as asking, pytest.raises(LsqlError) as caught:
            asking.post(processor(), "stop", "ada")

        assert caught.value.code == "RUNNER_REFUSED"
        assert caught.value.params["reason"] == "The processor cannot stop while it is ended"
        assert caught.value.way_out == "Wait."

    def test_no_response_is_reported(self) -> None:
        with client(Answers(silent=lambda name: True), Limits(timeout_s=0.2)) as asking:
            error = _error(lambda: asking.post(processor(), "stop", "ada"))

        assert error.code == "RUNNER_UNREACHABLE"

    def test_get_returns_status_and_body(self) -> None:
        with client(Answers({"/fast-vehicles/topology": (200, {"nodes": []})})) as asking:
            assert asking.get(processor(), "/topology") == (200, {"nodes": []})

    def test_get_of_a_silent_runner_is_unavailable(self) -> None:
        with (
            client(Answers(silent=lambda name: True), Limits(timeout_s=0.2)) as asking,
            pytest.raises(RunnerUnavailable),
        ):
            asking.get(processor(), "/topology")


def _error(act: Callable[[], object]) -> LsqlError:
    with pytest.raises(LsqlError) as caught:
        act()
    return caught.value
