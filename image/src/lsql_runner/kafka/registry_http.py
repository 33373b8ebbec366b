"""HTTP requests to the hosts of a schema registry, each with a deadline."""

from __future__ import annotations

import json
import re
import ssl
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Thread
from typing import Any, TypeVar

import httpx2

from lsql_runner.errors import Detail, DetailTable, LsqlError
from lsql_runner.formats.json_budget import MAX_VALUES, exceeds_budget
from lsql_runner.kafka.registry_connection import RegistryConnection, tls_context

Result = TypeVar("Result")

RESPONSE_LIMIT_BYTES = 16 * 1024 * 1024
MESSAGE_CHARS = 500
"""The longest message of a registry in an error."""

_ACCEPT = {"Accept": "application/vnd.schemaregistry.v1+json, application/json;q=0.9", "Accept-Encoding": "gzip"}
_GZIP = 16 + zlib.MAX_WBITS
"""The `wbits` of zlib for a gzip header and the largest window."""
_TRY_LATER = {408, 425, 429}
_READ_ONLY = 42205
"""The error code of a registry in read-only mode."""
_CLASS = re.compile(r"^(?:[a-z]\w*\.)+[A-Z]\w*: ")
_ALERT = re.compile(r"\balert ([a-z ]*[a-z])")


@dataclass(frozen=True, slots=True)
class Reply:
    """A registry's response: `error_code` is the code in its body, or 0; `document` is its JSON, or None."""

    url: str
    status: int
    error_code: int
    document: Any

    @property
    def message(self) -> str:
        """The first line of the message without the name of a Java class; empty if there is no message."""
        message = self.document.get("message", "") if isinstance(self.document, dict) else ""
        return first_line(str(message))

    @property
    def status_and_message(self) -> str:
        """The status, with the message if there is one."""
        return f"{self.status} {self.message}".rstrip()

    def invalid(self, reason: Detail) -> LsqlError:
        """REGISTRY_RESPONSE_INVALID."""
        return response_invalid(self.url, reason)


# Reasons of REGISTRY_UNREACHABLE, REGISTRY_REFUSED and REGISTRY_RESPONSE_INVALID.
REASONS = DetailTable(
    {
        "TIMEOUT": "no answer within {seconds} s",
        "STATUS": "HTTP {status}",
        "ENCODED": "the unsupported encoding {encoding}",
        "NOT_GZIP": "not gzip, the encoding in the header",
        "NOT_HTTP": "not HTTP",
        "NOT_TLS": "not TLS; the URL may need http:// instead of https://",
        "REDIRECT": "HTTP {status}, a redirect",
        "MANY_VALUES": "JSON with more than {limit} values, including the schema in it",
        "NOT_JSON": "HTTP {status} without JSON",
        "OTHER_JSON": "unexpected JSON at {place}: {reason}",
        "KIND_UNKNOWN": "the schemaType is {kind}, and not one of {known}",
    }
)


class NoAnswer(Exception):
    """A host did not answer the request; the text is the reason."""


class RegistryHosts:
    """The hosts of one registry. A request goes to the host that answered last, then to the others until one answers.

    Raises:
        LsqlError: ENV_INVALID, CERTIFICATE_INCOMPLETE from the constructor.
    """

    def __init__(self, connection: RegistryConnection, request_timeout_s: float) -> None:
        self._urls = connection.urls
        self._request_timeout_s = request_timeout_s
        self._first = 0
        self._client = httpx2.Client(
            timeout=httpx2.Timeout(request_timeout_s),
            # Requests are rare. A kept connection that a load balancer has dropped would look like an outage.
            limits=httpx2.Limits(max_keepalive_connections=0),
            auth=httpx2.BasicAuth(connection.user, connection.password) if connection.user else None,
            headers=_ACCEPT,
            trust_env=False,
            verify=tls_context(connection),
        )

    def deadline(self) -> float:
        """The deadline of a request that begins now, on the monotonic clock."""
        return time.monotonic() + self._request_timeout_s

    def ask(self, method: str, path: str, body: Any = None, until: float | None = None) -> Reply:
        """The first response of a host. `until` is a deadline for several requests; by default each request has one.

        Raises:
            LsqlError: REGISTRY_UNREACHABLE, REGISTRY_REFUSED, REGISTRY_CERTIFICATE_UNTRUSTED, REGISTRY_TLS_REFUSED,
                REGISTRY_RESPONSE_INVALID, REGISTRY_RESPONSE_TOO_LARGE.
        """
        deadline = self.deadline() if until is None else until
        reasons = []
        for hosts_left, number in self._order():
            url = self._urls[number]
            # Each host has an equal share of the time, so that a host that hangs leaves time for the others.
            share = max(0.001, (deadline - time.monotonic()) / hosts_left)
            try:
                reply = self._ask_host(url, method, path, body, share)
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
        """For each attempt, the number of hosts that are left and the index of the next one."""
        first, count = self._first, len(self._urls)
        for step in range(count):
            yield count - step, (first + step) % count

    def _ask_host(self, url: str, method: str, path: str, body: Any, seconds: float) -> Reply:
        try:
            status, content = _call_with_deadline(seconds, lambda: self._request(url + path, method, body, seconds))
        except (TimeoutError, httpx2.TimeoutException):
            raise NoAnswer(REASONS("TIMEOUT", seconds=f"{seconds:.3g}")) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise _request_error(url, error) from None
        return _check_reply(url, status, content)

    def _request(self, url: str, method: str, body: Any, seconds: float) -> tuple[int, bytes]:
        ends = time.monotonic() + seconds
        with self._client.stream(method, url, json=body, timeout=seconds) as response:
            content = _Content(url, response.headers.get("Content-Encoding", "identity"))
            # The decoders of httpx have no limit: a thousand bytes of gzip can become a megabyte, and bytes of several
            # encodings, one in the other, a gigabyte.
            for part in response.iter_raw():
                content.add(part)
                if time.monotonic() > ends:
                    raise TimeoutError
        return response.status_code, content.whole()


class _Content:
    """The content of a response, decoded, with a limited size.

    Raises:
        LsqlError: REGISTRY_RESPONSE_INVALID for an unsupported encoding, also from `add` for invalid gzip;
            REGISTRY_RESPONSE_TOO_LARGE from `add`.
    """

    def __init__(self, url: str, encoding: str) -> None:
        if encoding.lower() not in ("identity", "gzip"):
            raise response_invalid(url, REASONS("ENCODED", encoding=encoding[:MESSAGE_CHARS]))
        self._url = url
        self._unpacking = zlib.decompressobj(_GZIP) if encoding.lower() == "gzip" else None
        self._content = bytearray()

    def add(self, part: bytes) -> None:
        """Add the next bytes that arrived."""
        left = RESPONSE_LIMIT_BYTES - len(self._content)
        try:
            self._content += self._unpacking.decompress(part, left + 1) if self._unpacking else part
        except zlib.error:
            raise response_invalid(self._url, REASONS("NOT_GZIP")) from None
        if len(self._content) > RESPONSE_LIMIT_BYTES:
            raise LsqlError("REGISTRY_RESPONSE_TOO_LARGE", url=self._url, limit_bytes=RESPONSE_LIMIT_BYTES)

    def whole(self) -> bytes:
        return bytes(self._content)


def _call_with_deadline(seconds: float, ask: Callable[[], Result]) -> Result:
    """The result of `ask`; raises TimeoutError after `seconds`.

    The timeouts of the HTTP client are not enough: they apply to each part of a response, and not to name resolution.
    """
    answer: Future[Result] = Future()

    def run() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:
            answer.set_exception(error)

    Thread(target=run, name="registry-request", daemon=True).start()
    return answer.result(seconds)


def _request_error(url: str, error: Exception) -> Exception:
    """The error for a failed request: NoAnswer, or an LsqlError."""
    fault = _tls_fault(error)
    if fault is None:
        # The other errors of this class are connections that closed too early.
        if isinstance(error, httpx2.RemoteProtocolError) and str(error).startswith("illegal"):
            return response_invalid(url, REASONS("NOT_HTTP"))
        return NoAnswer(first_line(str(error)) or type(error).__name__)
    text = str(fault)
    if "WRONG_VERSION_NUMBER" in text or "RECORD_LAYER_FAILURE" in text:
        return response_invalid(url, REASONS("NOT_TLS"))
    if isinstance(fault, ssl.SSLCertVerificationError):
        return LsqlError("REGISTRY_CERTIFICATE_UNTRUSTED", url=url, reason=fault.verify_message.rstrip("."))
    if alert := _ALERT.search(text):
        return LsqlError("REGISTRY_TLS_REFUSED", url=url, alert=alert[1])
    return NoAnswer(first_line(text))


def _tls_fault(error: BaseException | None) -> ssl.SSLError | None:
    """The TLS error that made a request fail; None if there is none."""
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__ or error.__context__
    # A connection that ends without close_notify means that the server is unreachable, not that it refused the client.
    return None if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError) else error


def _check_reply(url: str, status: int, content: bytes) -> Reply:
    """The response of a registry.

    Raises:
        NoAnswer: the host cannot answer now.
        LsqlError: REGISTRY_REFUSED, REGISTRY_RESPONSE_INVALID.
    """
    if exceeds_budget(content):  # also a schema, which is a text in the response, and is parsed later
        raise response_invalid(url, REASONS("MANY_VALUES", limit=MAX_VALUES))
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    code = document.get("error_code") if isinstance(document, dict) else None
    reply = Reply(url, status, code if isinstance(code, int) else 0, document)
    if status in _TRY_LATER or status >= 500:
        raise NoAnswer(REASONS("STATUS", status=reply.status_and_message))
    if status in {401, 403} or reply.error_code == _READ_ONLY:
        raise LsqlError("REGISTRY_REFUSED", url=url, reason=REASONS("STATUS", status=reply.status_and_message))
    if 300 <= status < 400:
        raise reply.invalid(REASONS("REDIRECT", status=status))
    if document is None:
        raise reply.invalid(REASONS("NOT_JSON", status=status))
    return reply


def response_invalid(url: str, reason: Detail) -> LsqlError:
    """REGISTRY_RESPONSE_INVALID."""
    return LsqlError("REGISTRY_RESPONSE_INVALID", url=url, reason=reason)


def first_line(text: str) -> str:
    """The first line of a message, without the name of a Java class with which some registries begin it."""
    line = text.strip().splitlines()[0] if text.strip() else ""
    return _CLASS.sub("", line)[:MESSAGE_CHARS]
