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
from pydantic import AwareDatetime, BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from lsql_runner.console.document import TOPICS, ReportedScaling, RunnerError, RunnerReport, State
from lsql_runner.console.workloads import ProcessorWorkload, WorkloadKey
from lsql_runner.errors import Detail, DetailTable, LsqlError
from lsql_runner.web.forwarded import USER_HEADER, user_value

RESPONSE_LIMIT_BYTES = 4 * 1024 * 1024
TEXT_CHARS = 500
"""A report has at most this many characters of a text."""
REASONS = 20
"""A report has at most this many reasons of the runner's health."""

AddressOf = Callable[[ProcessorWorkload], str]

_STATES: TypeAdapter[State] = TypeAdapter(State)
_SCALING: TypeAdapter[ReportedScaling | None] = TypeAdapter(ReportedScaling | None)


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
        "NOT_A_RUNNER": "the response is not that of a processor",
        "NO_TOPOLOGY": "the response contains no topology",
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


class _Lenient(BaseModel):
    """A model of a response; fields of other versions of the runner are ignored."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)


class _Error(_Lenient):
    code: str = ""
    message: str = ""
    way_out: str = ""
    at: AwareDatetime | None = None

    def runner_error(self) -> RunnerError:
        return RunnerError(
            code=self.code[:64], message=self.message[:TEXT_CHARS], way_out=self.way_out[:TEXT_CHARS], at=self.at
        )


class _Topic(_Lenient):
    topic: str
    role: str


class _Rates(_Lenient):
    records_in_per_second: float = 0.0
    records_out_per_second: float = 0.0


class _Reason(_Lenient):
    text: str = ""


class _Health(_Lenient):
    status: str = ""
    reasons: tuple[_Reason, ...] = ()


class _Stream(_Lenient):
    state: str
    since: AwareDatetime | None = None
    version: str = ""
    reason: _Error | None = None
    last_error: _Error | None = None
    topics: tuple[_Topic, ...] = ()
    lag: int | None = None
    rates: _Rates = _Rates()
    scaling: object = None


def read_report(stream: object, health: object) -> RunnerReport:
    """The report from the bodies of /stream and /health.

    Raises:
        RunnerUnavailable: these are not responses of a processor.
    """
    try:
        parsed = _Stream.model_validate(stream)
        state = _STATES.validate_python(parsed.state)
        parsed_health = _Health.model_validate(health)
    except ValidationError:
        raise RunnerUnavailable(UNAVAILABLE_REASONS("NOT_A_RUNNER")) from None
    return RunnerReport(
        state=state,
        since=parsed.since,
        reason=parsed.reason.runner_error() if parsed.reason else None,
        healthy={"ok": True, "failing": False}.get(parsed_health.status),
        health_reasons=tuple(reason.text[:TEXT_CHARS] for reason in parsed_health.reasons[:REASONS]),
        lag=max(0, parsed.lag) if parsed.lag is not None else None,
        records_in_per_second=parsed.rates.records_in_per_second,
        records_out_per_second=parsed.rates.records_out_per_second,
        topics_in=_topics(parsed, "source"),
        topics_out=_topics(parsed, "target"),
        last_error=parsed.last_error.runner_error() if parsed.last_error else None,
        runner_version=parsed.version[:64],
        scaling=_scaling(parsed.scaling),
    )


def _scaling(value: object) -> ReportedScaling | None:
    """The number of workers that the processor wants; None if it reports none, or one of another version."""
    try:
        found = _SCALING.validate_python(value)
    except ValidationError:
        return None
    return found and found.model_copy(update={"reason": found.reason[:TEXT_CHARS]})


def _topics(parsed: _Stream, role: str) -> tuple[str, ...]:
    return tuple(topic.topic[:249] for topic in parsed.topics if topic.role == role)[:TOPICS]
