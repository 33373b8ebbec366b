"""Redis beyond the contract of sinks: keys, hashes, refused records."""

from __future__ import annotations

import pytest

from ci.tools.ports import free_port
from devkit.redis import Redis
from devkit.row_targets import RealTarget, RedisTarget, person
from lsql_runner.config.sink_connection import SinkConnection
from lsql_runner.engine.memory import MemoryEngine
from lsql_runner.errors import LsqlError

pytestmark = pytest.mark.timeout(180)

HASH = "UPSERT INTO target SELECT _key AS id, name, score, tags FROM people PK id STOREAS HASH"


@pytest.fixture
def target(engine: MemoryEngine, redis: Redis) -> RedisTarget:
    return RedisTarget(engine, redis)


def test_a_hash_has_a_field_for_each_column_that_is_not_null(target: RedisTarget, redis: Redis) -> None:
    target.write(HASH, 0, [person(0, 1, {"name": "Ada", "score": 1.5, "tags": ["a"]})])
    assert pairs(redis, "target:1") == {"id": "1", "name": "Ada", "score": "1.5", "tags": '["a"]'}

    target.write(HASH, 1, [person(1, 1, {"name": "Bo"}), person(2, 2, {"name": "Cy"}), person(3, 2, None)])
    assert pairs(redis, "target:1") == {"id": "1", "name": "Bo"}
    assert redis.all_keys() == ["target:1"]


def test_different_composite_keys_never_collide(target: RedisTarget, redis: Redis) -> None:
    sql = "UPSERT INTO target.p SELECT name, tags[0] AS tag FROM people PK name, tag"
    values = [{"name": "a:b", "tags": ["c"]}, {"name": "a", "tags": ["b:c"]}]

    target.write(sql, 0, [person(n, n, value) for n, value in enumerate(values)])

    assert redis.all_keys() == [r"p:a:b\:c", r"p:a\:b:c"]


def test_a_null_in_the_key_is_refused_with_its_record(target: RedisTarget) -> None:
    with pytest.raises(LsqlError) as found:
        target.write(HASH, 0, [person(0, 1, {}), person(1, None, {})])

    assert (found.value.code, found.value.params["offset"]) == ("SINK_RECORD_REFUSED", 1)


def test_an_unreachable_server_is_not_a_bad_record(engine: MemoryEngine) -> None:
    away = RealTarget(engine, SinkConnection("target", "redis", f"redis://127.0.0.1:{free_port()}"))

    with pytest.raises(LsqlError) as found:
        away.write(HASH, 0, [person(0, 1, {})])

    assert found.value.code == "SINK_UNREACHABLE"


@pytest.mark.parametrize("password", ["", "wrong-one"], ids=["none", "wrong"])
def test_refused_credentials_are_not_a_bad_record(engine: MemoryEngine, redis: Redis, password: str) -> None:
    stranger = RealTarget(engine, SinkConnection("target", "redis", redis.url, "", password))

    with pytest.raises(LsqlError) as found:
        stranger.write(HASH, 0, [person(0, 1, {})])

    assert found.value.code == "SINK_REFUSED"


def test_a_server_that_was_restarted_is_used_again(engine: MemoryEngine) -> None:
    with Redis() as server:
        target = RedisTarget(engine, server)
        target.write(HASH, 0, [person(0, 1, {})])
        server.stop()
        server.start()

        target.write(HASH, 1, [person(1, 2, {})])

        assert server.all_keys() == ["target:2"]


def pairs(redis: Redis, key: str) -> dict[str, str]:
    words = redis.command("HGETALL", key).splitlines()
    return dict(zip(words[::2], words[1::2], strict=True))
