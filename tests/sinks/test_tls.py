"""Sinks with TLS: the certificate of the server is verified, and its host name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from devkit import postgres, redis
from devkit.certificates import Authority
from devkit.postgres import Postgres
from devkit.redis import Redis
from devkit.sinks import RealSink, person
from lsql_runner.config.sink_connection import SinkConnection
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.errors import LsqlError

pytestmark = pytest.mark.timeout(180)

AUTHORITY, OTHER = Authority(), Authority()
ADDRESS, OTHER_NAME = "127.0.0.1", "localhost"
"""The certificates of the servers are for the address only."""
KINDS = ("postgresql", "redis")


@pytest.fixture(scope="module")
def postgres_tls() -> Iterator[Postgres]:
    with Postgres(AUTHORITY.issue(ADDRESS)) as running:
        yield running


@pytest.fixture(scope="module")
def redis_tls() -> Iterator[Redis]:
    with Redis(AUTHORITY.issue(ADDRESS)) as running:
        yield running


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Servers:
    """Both servers, and the sink that writes to one of them."""

    def __init__(self, engine: MemoryEngine, first: Postgres, second: Redis) -> None:
        self._engine = engine
        self._postgres = first
        self._redis = second

    def write(self, kind: str, host: str, ca: str, parameters: str = "") -> None:
        if kind == "postgresql":
            url = f"jdbc:postgresql://{host}:{self._postgres.port}/{postgres.DATABASE}{parameters}"
            user, password = postgres.USER, postgres.PASSWORD
        else:
            url, user, password = f"rediss://{host}:{self._redis.tls_port}", "", redis.PASSWORD
        connection = SinkConnection(name="db", kind=kind, url=url, user=user, password=password, ca=ca)
        sql = "UPSERT INTO db.people SELECT _key AS id, name FROM people PK id"
        RealSink(self._engine, connection).write(sql, 0, [person(0, 7, {"name": "Ada"})])

    def encrypted_connections(self, kind: str) -> int:
        """The connections with TLS that are open, with the client that asks not among them."""
        if kind == "postgresql":
            return int(self._postgres.sql("SELECT count(*) FROM pg_stat_ssl WHERE ssl"))
        clients = self._redis.command("CLIENT", "LIST").splitlines()
        return sum(f"laddr=127.0.0.1:{self._redis.tls_port}" in client for client in clients)

    def has_row(self, kind: str) -> bool:
        if kind == "postgresql":
            return self._postgres.rows("people") == [{"id": 7, "name": "Ada"}]
        return self._redis.all_keys() == ["people:7"]


@pytest.fixture
def servers(engine: MemoryEngine, postgres_tls: Postgres, redis_tls: Redis) -> Servers:
    postgres_tls.sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    postgres_tls.sql("CREATE TABLE people (id bigint PRIMARY KEY, name text)")
    redis_tls.command("FLUSHALL")
    return Servers(engine, postgres_tls, redis_tls)


def test_a_server_with_a_certificate_of_the_authority_gets_the_rows_with_tls(servers: Servers, kind: str) -> None:
    servers.write(kind, ADDRESS, AUTHORITY.certificate)

    assert servers.has_row(kind)
    assert servers.encrypted_connections(kind) > 0


def test_one_of_several_authorities_is_enough(servers: Servers, kind: str) -> None:
    servers.write(kind, ADDRESS, f"# two\n{OTHER.certificate}\n{AUTHORITY.certificate}")

    assert servers.has_row(kind)


def test_a_server_with_a_certificate_of_another_authority_is_refused(servers: Servers, kind: str) -> None:
    with pytest.raises(LsqlError) as caught:
        servers.write(kind, ADDRESS, OTHER.certificate)

    assert caught.value.code == "SINK_CERTIFICATE_UNTRUSTED"
    assert "unable to find valid certification path" in str(caught.value.params["reason"])


def test_a_server_with_a_certificate_for_another_host_is_refused(servers: Servers, kind: str) -> None:
    with pytest.raises(LsqlError) as caught:
        servers.write(kind, OTHER_NAME, AUTHORITY.certificate)

    assert caught.value.code == "SINK_CERTIFICATE_UNTRUSTED"
    assert OTHER_NAME in str(caught.value.params["reason"])


def test_a_server_without_tls_is_refused_if_a_ca_is_set(engine: MemoryEngine, postgres: Postgres) -> None:
    connection = SinkConnection(name="db", kind="postgresql", url=postgres.url, ca=AUTHORITY.certificate)

    with pytest.raises(LsqlError) as caught:
        RealSink(engine, connection).write("INSERT INTO db SELECT name FROM people", 0, [person(0, 7, {"name": "Ada"})])

    assert (caught.value.code, "SSL" in str(caught.value.params["reason"])) == ("SINK_UNREACHABLE", True)
