"""SET keys of Kafka and RocksDB, compared with the definitions in the libraries."""

from typing import Any

import pytest
from py4j.java_gateway import get_field  # type: ignore[import-untyped]
from pyspark.sql import SparkSession

from lsql_runner.bind.kafka_keys import (
    CONSUMER_KEYS,
    IGNORED_KEYS,
    PRODUCER_KEYS,
    environment_name,
    expected,
)
from lsql_runner.engine.memory import MemoryEngine
from lsql_runner.engine.state_options import tune_state
from lsql_runner.sql.unsupported import KEYS_OF_ENGINE

EXPECTED_VALUES = {"BOOLEAN": "true or false", "INT": "a whole number", "LONG": "a whole number"}
OWN_KEYS = {"consumer": {"auto.offset.reset"}, "producer": set[str]()}
CLIENTS = {"consumer": CONSUMER_KEYS, "producer": PRODUCER_KEYS}
CLASSES = {"consumer": "consumer.ConsumerConfig", "producer": "producer.ProducerConfig"}


@pytest.fixture(scope="module")
def types(engine: MemoryEngine) -> dict[str, dict[str, str]]:
    """By client: the type of each key in Kafka's definition, for example `INT`, `STRING`."""
    jvm: Any = engine.session._jvm
    found = {}
    for client, name in CLASSES.items():
        keys = definition(jvm, name).configKeys()
        found[client] = {str(key): str(get_field(keys[key], "type").name()) for key in keys}
    return found


def definition(jvm: Any, name: str) -> Any:
    """Kafka's definition of a client's keys, a ConfigDef."""
    package, _, config = name.partition(".")
    return getattr(getattr(jvm.org.apache.kafka.clients, package), config).configDef()


@pytest.mark.parametrize("client", CLIENTS)
def test_every_key_of_a_client_is_known(client: str, types: dict[str, dict[str, str]]) -> None:
    known = CLIENTS[client] | set(KEYS_OF_ENGINE) | set(IGNORED_KEYS) | OWN_KEYS[client]

    unknown = {key for key in types[client] if key not in known and environment_name(key) is None}
    assert {key for key in unknown if not key.startswith("internal.")} == set()


@pytest.mark.parametrize("client", CLIENTS)
def test_every_key_that_is_passed_on_exists_in_the_client_with_the_same_type(
    client: str, types: dict[str, dict[str, str]]
) -> None:
    passed_on = {key: types[client][key] for key in CLIENTS[client]}

    numbers_and_flags = {
        key: str(expected(key, "x")).partition(" from")[0] for key, kind in passed_on.items() if kind in EXPECTED_VALUES
    }
    assert numbers_and_flags == {
        key: EXPECTED_VALUES[kind] for key, kind in passed_on.items() if kind in EXPECTED_VALUES
    }
    assert {kind for kind in passed_on.values() if kind not in EXPECTED_VALUES} == {"STRING"}


@pytest.mark.parametrize("client", CLIENTS)
def test_accepted_values_are_those_of_the_client(client: str, engine: MemoryEngine) -> None:
    jvm: Any = engine.session._jvm
    keys = definition(jvm, CLASSES[client]).configKeys()
    choices = {key: values.split(" or ") for key in CLIENTS[client] if " or " in (values := expected(key, "x") or "")}

    assert choices
    for key, words in choices.items():
        for word in words:
            assert expected(key, word) is None
            if expected(key, "x") != "true or false":
                get_field(keys[key], "validator").ensureValid(key, word)


def rocksdb(session: SparkSession) -> tuple[int, int, int, int, int]:
    """The current options of state stores: block size, cache size, buffer size, buffers, files; in Spark's units."""
    jvm: Any = session._jvm
    state = jvm.org.apache.spark.sql.execution.streaming.state
    none = jvm.org.apache.spark.api.python.PythonUtils.toScalaMap(jvm.java.util.HashMap())
    session_state: Any = session._jsparkSession.sessionState()
    conf = state.RocksDBConf.apply(state.StateStoreConf(session_state.conf(), none))
    return (
        conf.blockSizeKB(),
        conf.blockCacheSizeMB(),
        conf.writeBufferSizeMB(),
        conf.maxWriteBufferNumber(),
        conf.maxOpenFiles(),
    )


def test_state_stores_have_the_settings_of_the_program_or_the_defaults_of_spark(engine: MemoryEngine) -> None:
    defaults = rocksdb(engine.session)

    tune_state(
        engine.session,
        [
            ("rocksdb.table.block.size", 8192),
            ("rocksdb.table.block.cache.size", 16 << 20),
            ("rocksdb.write.buffer.size", 32 << 20),
            ("rocksdb.max.write.buffer", 3),
            ("rocksdb.files.opened.max", 100),
        ],
    )
    tuned = rocksdb(engine.session)
    tune_state(engine.session, [])

    assert tuned == (8, 16, 32, 3, 100)
    assert rocksdb(engine.session) == defaults != tuned
