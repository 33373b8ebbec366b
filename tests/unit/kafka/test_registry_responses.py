"""Responses of a schema registry, valid and invalid, and responses of other servers."""

import gzip
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

from ci.tools.ports import free_port
from devkit.registry import AVRO
from devkit.registry_proxies import BannerServer, PageServer, SlowServer
from lsql_runner.errors import LsqlError
from lsql_runner.kafka.registry import RegisteredSchema, RestRegistry
from lsql_runner.kafka.registry_connection import RegistryConnection
from lsql_runner.kafka.registry_http import RESPONSE_LIMIT_BYTES

OpenRegistry = Callable[..., RestRegistry]


@pytest.fixture
def open_registry() -> Iterator[OpenRegistry]:
    """Opens clients, which are closed after the test."""
    with ExitStack() as stack:

        def client(*urls: str, request_timeout_s: float = 10) -> RestRegistry:
            return stack.enter_context(closing(RestRegistry(RegistryConnection(urls), request_timeout_s)))

        yield client


def refusal(ask: Callable[[], object]) -> LsqlError:
    with pytest.raises(LsqlError) as caught:
        ask()
    assert str(caught.value)  # raises if a parameter is missing
    return caught.value


def test_unreachable_hosts_are_named_with_their_reasons(open_registry: OpenRegistry) -> None:
    urls = [f"http://127.0.0.1:{free_port()}" for _ in range(2)]

    error = refusal(lambda: open_registry(*urls).latest("orders-value"))

    assert (error.code, error.params["urls"]) == ("REGISTRY_UNREACHABLE", ", ".join(urls))
    assert all(url in str(error.params["reason"]) for url in urls)


def test_a_slow_response_ends_at_the_deadline(open_registry: OpenRegistry) -> None:
    with SlowServer(0.05) as server:
        began = time.monotonic()
        error = refusal(lambda: open_registry(server.url, request_timeout_s=0.5).latest("orders-value"))

    assert error.code == "REGISTRY_UNREACHABLE"
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(("status", "code"), [(403, 40301), (422, 42205)])
def test_missing_permissions_are_a_refusal(open_registry: OpenRegistry, status: int, code: int) -> None:
    body = f'{{"error_code": {code}, "message": "no right to write"}}'
    with PageServer(status, body, "application/json") as server:
        error = refusal(lambda: open_registry(server.url).register("orders-value", "AVRO", AVRO))

    assert (error.code, error.params["reason"]) == ("REGISTRY_REFUSED", f"HTTP {status} no right to write")


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_a_registry_that_cannot_answer_now_is_unreachable(open_registry: OpenRegistry, status: int) -> None:
    with PageServer(status, '{"error_code": 50003, "message": "no\\ntrace"}', "application/json") as server:
        error = refusal(lambda: open_registry(server.url).schema(1))

    assert (error.code, error.params["reason"]) == ("REGISTRY_UNREACHABLE", f"HTTP {status} no")


@pytest.mark.parametrize(
    "sent",
    [b"", b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"],
    ids=["nothing", "half-a-line", "half-a-body"],
)
def test_a_registry_that_closes_the_connection_is_unreachable(open_registry: OpenRegistry, sent: bytes) -> None:
    with BannerServer(sent) as server:
        assert refusal(lambda: open_registry(server.url).schema(1)).code == "REGISTRY_UNREACHABLE"


def test_an_endless_response_is_invalid(open_registry: OpenRegistry) -> None:
    with PageServer(200, " " * (RESPONSE_LIMIT_BYTES + 1), "application/json") as server:
        error = refusal(lambda: open_registry(server.url).schema(1))

    assert (error.code, error.params["limit_bytes"]) == ("REGISTRY_RESPONSE_TOO_LARGE", 16 * 1024 * 1024)
    assert str(error.params["url"]).startswith(f"{server.url}/schemas/ids/1")


@pytest.mark.parametrize(
    "body",
    ['{"schema": "x", "more": [%s]}', '{"schema": "[%s]"}', "[%s]", "<%s"],
    ids=["beside-the-schema", "in-the-schema", "instead-of-a-schema", "not-json"],
)
def test_a_response_with_many_values_is_not_parsed(open_registry: OpenRegistry, body: str) -> None:
    text = body % ("{}," * (RESPONSE_LIMIT_BYTES // 3 - 20))
    with PageServer(200, text, "application/json") as server:
        client = open_registry(server.url)
        tracemalloc.start()
        try:
            error = refusal(lambda: client.schema(1))
            _, peak_bytes = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert (error.code, getattr(error.params["reason"], "code", "")) == ("REGISTRY_RESPONSE_INVALID", "MANY_VALUES")
    assert peak_bytes < 4 * RESPONSE_LIMIT_BYTES


def test_a_response_may_be_packed(open_registry: OpenRegistry) -> None:
    with PageServer(200, gzip.compress(b'{"schema": "\\"string\\""}'), "application/json", "gzip") as server:
        assert open_registry(server.url).schema(7) == RegisteredSchema(7, "AVRO", '"string"')


def test_a_small_response_that_becomes_large_is_not_unpacked(open_registry: OpenRegistry) -> None:
    packing = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    packed = b"".join([*(packing.compress(b" " * 2**20) for _ in range(256)), packing.flush()])
    with PageServer(200, packed, "application/json", "gzip") as server:
        tracemalloc.start()
        try:
            error = refusal(lambda: open_registry(server.url).schema(1))
            _, peak_bytes = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert len(packed) < 2**20
    assert error.code == "REGISTRY_RESPONSE_TOO_LARGE"
    assert peak_bytes < 4 * RESPONSE_LIMIT_BYTES


@pytest.mark.parametrize(
    ("encoding", "reason"),
    [("gzip, gzip", "ENCODED"), ("deflate", "ENCODED"), ("br", "ENCODED"), ("gzip", "NOT_GZIP")],
)
def test_an_encoding_that_is_not_supported_is_invalid(open_registry: OpenRegistry, encoding: str, reason: str) -> None:
    with PageServer(200, '{"schema": "x"}', "application/json", encoding) as server:
        error = refusal(lambda: open_registry(server.url).schema(1))

    assert (error.code, getattr(error.params["reason"], "code", "")) == ("REGISTRY_RESPONSE_INVALID", reason)


def test_a_null_field_is_missing(open_registry: OpenRegistry) -> None:
    body = '{"schema": "\\"string\\"", "schemaType": null, "references": null, "guid": "x", "metadata": null}'
    with PageServer(200, body, "application/json") as server:
        assert open_registry(server.url).schema(7) == RegisteredSchema(7, "AVRO", '"string"')


def test_an_unknown_schema_type_is_refused(open_registry: OpenRegistry) -> None:
    with PageServer(200, '{"schema": "<xs/>", "schemaType": "XSD"}', "application/json") as server:
        error = refusal(lambda: open_registry(server.url).schema(7))

    assert error.code == "REGISTRY_RESPONSE_INVALID"
    assert "schemaType" in str(error.params["reason"])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('{"is_compatible": true}', None),
        (
            '{"is_compatible": false, "messages": ["{errorType:A}", "{oldSchemaVersion: 1}"]}',
            "{errorType:A}; {oldSchemaVersion: 1}",
        ),
        ('{"is_compatible": false, "reason": "java.lang.Oops: y at /fields/0"}', "y at /fields/0"),
        ('{"is_compatible": false}', "is_compatible: false"),
    ],
)
def test_the_reason_of_each_registry_is_reported(open_registry: OpenRegistry, body: str, reason: str | None) -> None:
    with PageServer(200, body, "application/json") as server:
        assert open_registry(server.url).incompatibility("orders-value", "AVRO", AVRO) == reason


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, "<html>Welcome</html>", "text/html"),
        (404, "<html>No such page</html>", "text/html"),
        (404, '{"error": "no such page"}', "application/json"),
        (404, '{"error_code": 404, "message": "HTTP 404 Not Found"}', "application/json"),
        (200, '{"id": "one"}', "application/json"),
        (200, '{"error_code": {}}', "application/json"),
        (200, "null", "application/json"),
        (200, "[[[", "application/json"),
        (200, "[" * 100_000, "application/json"),
        (302, "", "text/html"),
    ],
    ids=range(10),
)
def test_another_server_at_the_address_is_refused(
    open_registry: OpenRegistry, status: int, body: str, kind: str
) -> None:
    with PageServer(status, body, kind) as server:
        schemas = open_registry(f"{server.url}/somewhere")
        errors = [
            refusal(lambda: schemas.schema(1)),
            refusal(lambda: schemas.latest("orders-value")),
            refusal(lambda: schemas.ids("orders-value")),
            refusal(lambda: schemas.register("orders-value", "AVRO", AVRO)),
            refusal(lambda: schemas.incompatibility("orders-value", "AVRO", AVRO)),
        ]

    assert {error.code for error in errors} == {"REGISTRY_RESPONSE_INVALID"}
    assert server.url in str(errors[0])


def test_a_server_without_http_is_refused(open_registry: OpenRegistry) -> None:
    with BannerServer() as server:
        error = refusal(lambda: open_registry(server.url).latest("orders-value"))

    assert (error.code, error.params["reason"]) == ("REGISTRY_RESPONSE_INVALID", "not HTTP")


@pytest.mark.parametrize("code", [40401, 40404])
def test_deleting_a_deleted_subject_is_no_error(open_registry: OpenRegistry, code: int) -> None:
    with PageServer(404, f'{{"error_code": {code}, "message": "deleted"}}', "application/json") as server:
        open_registry(server.url).delete("orders-value")


def test_a_registry_without_deletion_is_refused(open_registry: OpenRegistry) -> None:
    with PageServer(404, '{"message": "no such page"}', "application/json") as server:
        error = refusal(lambda: open_registry(server.url).delete("orders-value"))

    assert error.code == "REGISTRY_RESPONSE_INVALID"
