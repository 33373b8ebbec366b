"""Fetches the reports of runners: in parallel, with a time limit for each request and one for all."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import httpx2
from pydantic import ValidationError

from lsql_runner.console.document import TEXT_CHARS, TOPICS, RunnerError, RunnerReport
from lsql_runner.console.workloads import ProcessorWorkload, WorkloadKey
from lsql_runner.errors import Detail, DetailTable, LsqlError
from lsql_runner.reports.stream import Error, HealthReport, StreamSummary
from lsql_runner.web.forwarded import USER_HEADER, user_value

RESPONSE_LIMIT_BYTES = 4 * 1024 * 1024
REASONS = 20
"""A report has at most this many reasons of the runner's health."""

AddressOf = Callable[[ProcessorWorkload], str]


def service_address(processor: ProcessorWorkload) -> str:
    """The address of a runner: the Service with the name of its workload."""
    return f"http://{processor.name}.{processor.namespace}.svc:{processor.port}"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of the requests to runners."""

    timeout_s: float = 2.0
    """For one request, from connecting to the last byte."""
    parallel: int = 32
    pass_s: float = 60.0
    """For all runners together; a runner that has not responded by then counts as unreachable."""


UNAVAILABLE_REASONS = DetailTable(
    {
        "STATUS": "{method} {path} returned HTTP {status}",
        "TOO_LONG": "{method} {path} returned more than {limit_bytes} bytes",
        "TIMEOUT": "{method} {path} had no response within {seconds} s",
        "PASS_TIMEOUT": "no report within {seconds} s, the time limit for all processors",
        "FAILED": "{method} {path}: {reason}",
        "NOT_JSON": "{method} {path} did not return JSON",
        "NOT_A_RUNNER": "the response is not from a processor",
    }
)


class RunnerUnavailable(Exception):
    """A runner did not respond, or its response cannot be used."""

    def __init__(self, reason: Detail) -> None:
        super().__init__(reason)
        self.reason = reason


class Runners:
    """A client of all runners. `close` closes its connections."""

    def __init__(self, limits: Limits, address_of: AddressOf = service_address) -> None:
        self._limits = limits
        self._address_of = address_of
        self._client = httpx2.Client(
            timeout=httpx2.Timeout(limits.timeout_s),
            limits=httpx2.Limits(max_connections=limits.parallel + 8, max_keepalive_connections=0),
            headers={"Accept-Encoding": "identity"},
            trust_env=False,
            # Runners use plain HTTP; a context without certificate authorities saves loading them.
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            follow_redirects=False,
        )

    def close(self) -> None:
        self._client.close()

    def fetch_reports(self, processors: Iterable[ProcessorWorkload]) -> dict[WorkloadKey, RunnerReport]:
        """The report of each runner, by the key of the processor."""
        known = list(processors)
        pool = ThreadPoolExecutor(self._limits.parallel, thread_name_prefix="fetch")
        pending: dict[WorkloadKey, Future[RunnerReport]] = {p.key: pool.submit(self.fetch_report, p) for p in known}
        try:
            wait(pending.values(), self._limits.pass_s)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        late = UNAVAILABLE_REASONS("PASS_TIMEOUT", seconds=f"{self._limits.pass_s:g}")
        return {
            key: future.result() if future.done() and not future.cancelled() else unreachable(late)
            for key, future in pending.items()
        }

    def fetch_report(self, processor: ProcessorWorkload) -> RunnerReport:
        """The report from GET /stream and /health; of state `unreachable` if the runner does not respond."""
        if processor.runners == 0:
            return RunnerReport(state="scaled-down")
        try:
            status, stream = self.get(processor, "/stream")
            if status != 200:
                raise RunnerUnavailable(UNAVAILABLE_REASONS("STATUS", method="GET", path="/stream", status=status))
            _, health = self.get(processor, "/health")
            return read_report(stream, health)
        except RunnerUnavailable as error:
            return unreachable(error.reason)

    def get(self, processor: ProcessorWorkload, path: str) -> tuple[int, Any]:
        """Status and JSON of a GET.

        Raises:
            RunnerUnavailable
        """
        return self._request(processor, "GET", path, {})

    def post(self, processor: ProcessorWorkload, action: str, by: str, token: str = "") -> None:
        """Stop or start the processor, in the name of a user, with the token of the runner if it has one.

        Raises:
            LsqlError: RUNNER_UNREACHABLE, RUNNER_REFUSED.
        """
        try:
            headers = {USER_HEADER.encode(): user_value(by)} | (
                {b"Authorization": f"Bearer {token}".encode()} if token else {}
            )
            status, body = self._request(processor, "POST", f"/{action}", headers)
        except RunnerUnavailable as error:
            raise LsqlError("RUNNER_UNREACHABLE", name=processor.name, reason=error.reason) from None
        if status >= 400:
            problem = body if isinstance(body, Mapping) else {}
            why = str(problem.get("detail") or f"HTTP {status}").rstrip(".")[:TEXT_CHARS]
            way_out = str(problem.get("wayOut") or "GET /stream.")[:TEXT_CHARS]
            raise LsqlError("RUNNER_REFUSED", name=processor.name, action=action, reason=why, way_out=way_out)

    def _request(
        self, processor: ProcessorWorkload, method: str, path: str, headers: Mapping[bytes, bytes]
    ) -> tuple[int, Any]:
        deadline = time.monotonic() + self._limits.timeout_s
        sent = {"method": method, "path": path}
        late = UNAVAILABLE_REASONS("TIMEOUT", **sent, seconds=f"{self._limits.timeout_s:g}")
        content = bytearray()
        try:
            with self._client.stream(method, self._address_of(processor) + path, headers=dict(headers)) as response:
                # Not unpacked: a runner does not pack its responses, and some bytes of gzip can become megabytes.
                for part in response.iter_raw():
                    content += part
                    if len(content) > RESPONSE_LIMIT_BYTES:
                        raise RunnerUnavailable(
                            UNAVAILABLE_REASONS("TOO_LONG", **sent, limit_bytes=RESPONSE_LIMIT_BYTES)
                        )
                    if time.monotonic() > deadline:  # the timeout of the library is for each read
                        raise RunnerUnavailable(late)
            return response.status_code, json.loads(content)
        except httpx2.TimeoutException:
            raise RunnerUnavailable(late) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            reason = str(error)[:TEXT_CHARS] or type(error).__name__
            raise RunnerUnavailable(UNAVAILABLE_REASONS("FAILED", **sent, reason=reason)) from None
        except (ValueError, RecursionError):
            raise RunnerUnavailable(UNAVAILABLE_REASONS("NOT_JSON", **sent)) from None


def unreachable(why: str) -> RunnerReport:
    """The report of a runner that does not respond."""
    return RunnerReport(state="unreachable", unreachable=why)


def read_report(stream: object, health: object) -> RunnerReport:
    """The report from the bodies of /stream and /health. Unknown fields are ignored: the runner may be a later version.

    Raises:
        RunnerUnavailable: these are not responses of a processor.
    """
    try:
        summary = StreamSummary.model_validate(stream, extra="ignore")
        reasons = HealthReport.model_validate(health, extra="ignore").reasons
    except ValidationError:
        raise RunnerUnavailable(UNAVAILABLE_REASONS("NOT_A_RUNNER")) from None
    scaling = summary.scaling
    return RunnerReport(
        state=summary.state,
        since=summary.since,
        reason=_error(summary.reason),
        healthy=not reasons,
        health_reasons=tuple(reason.text for reason in reasons[:REASONS]),
        lag=summary.lag,
        records_in_per_second=summary.rates.records_in_per_second,
        records_out_per_second=summary.rates.records_out_per_second,
        topics_in=_topics(summary, "source"),
        topics_out=_topics(summary, "target"),
        last_error=_error(summary.last_error),
        runner_version=summary.version[:64],
        scaling=scaling and scaling.model_copy(update={"reason": scaling.reason[:TEXT_CHARS]}),
    )


def _error(error: Error | None) -> RunnerError | None:
    return None if error is None else RunnerError.model_validate(error)


def _topics(summary: StreamSummary, role: str) -> tuple[str, ...]:
    return tuple(topic.topic[:249] for topic in summary.topics if topic.role == role)[:TOPICS]
