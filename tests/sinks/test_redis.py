"""Redis beyond the contract of sinks: keys, hashes, refused records."""

from __future__ import annotations

import pytest

from ci.tools.ports import free_port
from devkit.redis import Redis
from devkit.sinks import RealSink, RedisSink, person
from lsql_runner.config.sink_connection import SinkConnection
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.errors import LsqlError

pytestmark = pytest.mark.timeout(180)

HASH = "UPSERT INTO db SELECT _key AS id, name, score, tags FROM people PK id STOREAS HASH"


@pytest.fixture
def sink(engine: MemoryEngine, redis: Redis) -> RedisSink:
    return RedisSink(engine, redis)


def test_a_hash_has_a_field_for_each_column_that_is_not_null(sink: RedisSink, redis: Redis) -> None:
    sink.write(HASH, 0, [person(0, 1, {"name": "Ada", "score": 1.5, "tags": ["a"]})])
    assert pairs(redis, "db:1") == {"id": "1", "name": "Ada", "score": "1.5", "tags": '["a"]'}

    sink.write(HASH, 1, [person(1, 1, {"name": "Bo"}), person(2, 2, {"name": "Cy"}), person(3, 2, None)])
    assert pairs(redis, "db:1") == {"id": "1", "name": "Bo"}
    assert redis.all_keys() == ["db:1"]


def test_different_composite_keys_never_collide(sink: RedisSink, redis: Redis) -> None:
    sql = "UPSERT INTO db.p SELECT name, tags[0] AS tag FROM people PK name, tag"
    values = [{"name": "a:b", "tags": ["c"]}, {"name": "a", "tags": ["b:c"]}]

    sink.write(sql, 0, [person(n, n, value) for n, value in enumerate(values)])

    assert redis.all_keys() == [r"p:a:b\:c", r"p:a\:b:c"]


def test_a_null_in_the_key_is_refused_with_its_record(sink: RedisSink) -> None:
    with pytest.raises(LsqlError) as caught:
        sink.write(HASH, 0, [person(0, 1, {}), person(1, None, {})])

    assert (caught.value.code, caught.value.params["offset"]) == ("SINK_RECORD_REFUSED", 1)


def test_an_unreachable_server_is_not_a_bad_record(engine: MemoryEngine) -> None:
    away = RealSink(engine, SinkConnection(name="db", kind="redis", url=f"redis://127.0.0.1:{free_port()}"))

    with pytest.raises(LsqlError) as caught:
        away.write(HASH, 0, [person(0, 1, {})])

    assert caught.value.code == "SINK_UNREACHABLE"


@pytest.mark.parametrize("password", ["", "wrong-one"], ids=["none", "wrong"])
def test_refused_credentials_are_not_a_bad_record(engine: MemoryEngine, redis: Redis, password: str) -> None:
    stranger = RealSink(engine, SinkConnection(name="db", kind="redis", url=redis.url, user="", password=password))

    with pytest.raises(LsqlError) as caught:
        stranger.write(HASH, 0, [person(0, 1, {})])

    assert caught.value.code == "SINK_REFUSED"


def test_a_server_that_was_restarted_is_used_again(engine: MemoryEngine) -> None:
    with Redis() as server:
        sink = RedisSink(engine, server)
        sink.write(HASH, 0, [person(0, 1, {})])
        server.stop()
        server.start()

        sink.write(HASH, 1, [person(1, 2, {})])

        assert server.all_keys() == ["db:2"]


def pairs(redis: Redis, key: str) -> dict[str, str]:
    words = redis.command("HGETALL", key).splitlines()
    return dict(zip(words[::2], words[1::2], strict=True))
