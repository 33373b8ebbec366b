"""HTTP requests to the hosts of a schema registry, each with a deadline."""

from __future__ import annotations

import json
import re
import ssl
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Thread
from typing import Any, TypeVar

import httpx2

from lsql_runner.errors import Detail, DetailTable, LsqlError
from lsql_runner.kafka.registry_connection import RegistryConnection, tls_context

Answer = TypeVar("Answer")

ANSWER_LIMIT_BYTES = 16 * 1024 * 1024
TEXT_CHARS = 500

_ACCEPT = {"Accept": "application/vnd.schemaregistry.v1+json, application/json;q=0.9"}
_TRY_LATER = {408, 425, 429}
_READ_ONLY = 42205
_CLASS = re.compile(r"^(?:[a-z]\w*\.)+[A-Z]\w*: ")
_ALERT = re.compile(r"\balert ([a-z ]*[a-z])")


@dataclass(frozen=True, slots=True)
class Reply:
    """A registry's response: `error_code` is the registry's own, 0 where it has none; `document` is its JSON."""

    url: str
    status: int
    error_code: int
    document: Any

    @property
    def message(self) -> str:
        """The registry's message, without names of Java classes; empty where there is none."""
        found = self.document.get("message", "") if isinstance(self.document, dict) else ""
        return in_words(str(found))

    @property
    def said(self) -> str:
        """The status, and the message where there is one."""
        return f"{self.status} {self.message}".rstrip()

    def invalid(self, reason: Detail) -> LsqlError:
        """REGISTRY_RESPONSE_INVALID."""
        return answer_invalid(self.url, reason)


REASONS = DetailTable(
    {
        "TIMEOUT": "no answer within {seconds} s",
        "STATUS": "HTTP {status}",
        "TOO_LONG": "more than {limit_bytes} bytes",
        "NOT_HTTP": "not HTTP",
        "NOT_TLS": "not TLS; the URL may need http:// instead of https://",
        "REDIRECT": "HTTP {status}, a redirect",
        "NOT_JSON": "HTTP {status} without JSON",
        "OTHER_JSON": "unexpected JSON at {place}: {reason}",
    }
)


class NoAnswer(Exception):
    """One host gave no answer; the text is the reason."""


class RegistryHosts:
    """The hosts of one registry. The one that answered last is asked first, the others when it does not answer.

    Raises:
        LsqlError: ENV_INVALID and ENV_MISSING when it is made.
    """

    def __init__(self, connection: RegistryConnection, answer_s: float) -> None:
        self._urls = connection.urls
        self._answer_s = answer_s
        self._first = 0
        self._client = httpx2.Client(
            timeout=httpx2.Timeout(answer_s),
            # Requests are rare: a kept connection that a load balancer has dropped would look like an outage.
            limits=httpx2.Limits(max_keepalive_connections=0),
            auth=httpx2.BasicAuth(connection.user, connection.password) if connection.user else None,
            headers=_ACCEPT,
            trust_env=False,
            verify=tls_context(connection),
        )

    def deadline(self) -> float:
        """The deadline of a request that begins now, on the monotonic clock."""
        return time.monotonic() + self._answer_s

    def ask(self, method: str, path: str, body: Any = None, until: float | None = None) -> Reply:
        """The first host's answer; `until` is the deadline where the request is a part of a longer question.

        Raises:
            LsqlError: REGISTRY_UNREACHABLE, REGISTRY_REFUSED, REGISTRY_CERTIFICATE_UNTRUSTED, REGISTRY_TLS_REFUSED,
                REGISTRY_RESPONSE_INVALID.
        """
        deadline = self.deadline() if until is None else until
        reasons = []
        for left, number in self._order():
            url = self._urls[number]
            share = max(0.001, (deadline - time.monotonic()) / left)  # a host that hangs leaves time for the others
            try:
                reply = self._of_one(url, method, path, body, share)
            except NoAnswer as error:
                reasons.append(str(error) if len(self._urls) == 1 else f"{url}: {error}")
            else:
                self._first = number
                return reply
        raise LsqlError("REGISTRY_UNREACHABLE", urls=", ".join(self._urls), reason="; ".join(reasons))

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _order(self) -> Iterator[tuple[int, int]]:
        """The number of hosts left, and which is next."""
        first, count = self._first, len(self._urls)
        for step in range(count):
            yield count - step, (first + step) % count

    def _of_one(self, url: str, method: str, path: str, body: Any, seconds: float) -> Reply:
        try:
            status, content = _within(seconds, lambda: self._request(url + path, method, body, seconds))
        except (TimeoutError, httpx2.TimeoutException):
            raise NoAnswer(REASONS("TIMEOUT", seconds=f"{seconds:.3g}")) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise _failed(url, error) from None
        return _judged(url, status, content)

    def _request(self, url: str, method: str, body: Any, seconds: float) -> tuple[int, bytes]:
        content = bytearray()
        ends = time.monotonic() + seconds
        with self._client.stream(method, url, json=body, timeout=seconds) as response:
            for part in response.iter_bytes():
                content += part
                if len(content) > ANSWER_LIMIT_BYTES:
                    raise answer_invalid(url, REASONS("TOO_LONG", limit_bytes=ANSWER_LIMIT_BYTES))
                if time.monotonic() > ends:
                    raise TimeoutError
        return response.status_code, bytes(content)


def _within(seconds: float, ask: Callable[[], Answer]) -> Answer:
    """What `ask` returns; TimeoutError at the deadline, which the client's own limits do not keep.

    They are for each piece that arrives, and none is for the look-up of a name.
    """
    answer: Future[Answer] = Future()

    def run() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:
            answer.set_exception(error)

    Thread(target=run, name="registry-question", daemon=True).start()
    return answer.result(seconds)


def _failed(url: str, error: Exception) -> Exception:
    """The error for a failed request: NoAnswer, or an LsqlError."""
    fault = _tls_fault(error)
    if fault is None:
        # Other errors of this class are connections that ended too soon.
        if isinstance(error, httpx2.RemoteProtocolError) and str(error).startswith("illegal"):
            return answer_invalid(url, REASONS("NOT_HTTP"))
        return NoAnswer(in_words(str(error)) or type(error).__name__)
    text = str(fault)
    if "WRONG_VERSION_NUMBER" in text or "RECORD_LAYER_FAILURE" in text:
        return answer_invalid(url, REASONS("NOT_TLS"))
    if isinstance(fault, ssl.SSLCertVerificationError):
        return LsqlError("REGISTRY_CERTIFICATE_UNTRUSTED", url=url, reason=fault.verify_message.rstrip("."))
    if alert := _ALERT.search(text):
        return LsqlError("REGISTRY_TLS_REFUSED", url=url, alert=alert[1])
    return NoAnswer(in_words(text))


def _tls_fault(error: BaseException | None) -> ssl.SSLError | None:
    """The TLS error behind a failed request."""
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__ or error.__context__
    # A server that closes without TLS' close_notify is unreachable; it has refused nothing.
    return None if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError) else error


def _judged(url: str, status: int, content: bytes) -> Reply:
    """The answer, if it is a registry's.

    Raises:
        NoAnswer: the host is there, and cannot answer now.
        LsqlError: REGISTRY_REFUSED, REGISTRY_RESPONSE_INVALID.
    """
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    code = document.get("error_code") if isinstance(document, dict) else None
    reply = Reply(url, status, code if isinstance(code, int) else 0, document)
    if status in _TRY_LATER or status >= 500:
        raise NoAnswer(REASONS("STATUS", status=reply.said))
    if status in {401, 403} or reply.error_code == _READ_ONLY:
        raise LsqlError("REGISTRY_REFUSED", url=url, reason=REASONS("STATUS", status=reply.said))
    if 300 <= status < 400:
        raise reply.invalid(REASONS("REDIRECT", status=status))
    if document is None:
        raise reply.invalid(REASONS("NOT_JSON", status=status))
    return reply


def answer_invalid(url: str, reason: Detail) -> LsqlError:
    """REGISTRY_RESPONSE_INVALID."""
    return LsqlError("REGISTRY_RESPONSE_INVALID", url=url, reason=reason)


def in_words(text: str) -> str:
    """The first line of a message, without the Java class that some registries put before it."""
    line = text.strip().splitlines()[0] if text.strip() else ""
    return _CLASS.sub("", line)[:TEXT_CHARS]
