"""SET keys of Kafka and RocksDB agree with the definitions of the libraries."""

from typing import Any

import pytest
from py4j.java_gateway import get_field  # type: ignore[import-untyped]
from pyspark.sql import SparkSession

from lsql_runner.bind.kafka_settings import (
    CONSUMER_KEYS,
    IGNORED_KEYS,
    PRODUCER_KEYS,
    environment_name,
    expected_value,
)
from lsql_runner.container.budget import StoreMemory
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.engine.state_options import tune_state
from lsql_runner.sql.unsupported import KEYS_OF_ENGINE

DETAILS = {"BOOLEAN": {"BOOLEAN"}, "INT": {"INTEGER", "INTEGER_RANGE"}, "LONG": {"INTEGER"}}
"""By Kafka's type of a setting: what is expected of its value."""
LSQL_KEYS = {"consumer": {"auto.offset.reset"}, "producer": set[str]()}
CLIENTS = {"consumer": CONSUMER_KEYS, "producer": PRODUCER_KEYS}
CLASSES = {"consumer": "consumer.ConsumerConfig", "producer": "producer.ProducerConfig"}


@pytest.fixture(scope="module")
def types(engine: MemoryEngine) -> dict[str, dict[str, str]]:
    """By client and key: the type of the setting in Kafka, `INT`, `STRING` ..."""
    jvm: Any = engine.session._jvm
    types = {}
    for client, name in CLASSES.items():
        keys = definition(jvm, name).configKeys()
        types[client] = {str(key): str(get_field(keys[key], "type").name()) for key in keys}
    return types


def definition(jvm: Any, name: str) -> Any:
    """Kafka's ConfigDef of a client."""
    package, _, config = name.partition(".")
    return getattr(getattr(jvm.org.apache.kafka.clients, package), config).configDef()


@pytest.mark.parametrize("client", CLIENTS)
def test_every_setting_of_a_client_is_known(client: str, types: dict[str, dict[str, str]]) -> None:
    known = CLIENTS[client] | set(KEYS_OF_ENGINE) | set(IGNORED_KEYS) | LSQL_KEYS[client]

    unknown = {key for key in types[client] if key not in known and environment_name(key) is None}
    assert {key for key in unknown if not key.startswith("internal.")} == set()


@pytest.mark.parametrize("client", CLIENTS)
def test_the_expected_value_of_a_setting_has_the_type_of_the_client(
    client: str, types: dict[str, dict[str, str]]
) -> None:
    for key in CLIENTS[client]:
        kind, detail = types[client][key], expected_value(key, "x")
        if kind in DETAILS:
            assert detail is not None
            assert detail.code in DETAILS[kind], key
        else:
            assert kind == "STRING", key


@pytest.mark.parametrize("client", CLIENTS)
def test_the_client_accepts_all_expected_values(client: str, engine: MemoryEngine) -> None:
    jvm: Any = engine.session._jvm
    keys = definition(jvm, CLASSES[client]).configKeys()
    details = {key: detail for key in CLIENTS[client] if (detail := expected_value(key, "x")) is not None}
    choices = {key: str(detail.params["known"]) for key, detail in details.items() if detail.code == "ONE_OF"}

    assert choices
    for key, words in choices.items():
        for word in words.split(", "):
            assert expected_value(key, word) is None
            get_field(keys[key], "validator").ensureValid(key, word)
    for key in (key for key, detail in details.items() if detail.code == "BOOLEAN"):
        assert expected_value(key, "true") is expected_value(key, "false") is None


def rocksdb(session: SparkSession) -> tuple[int, int, int, int, int]:
    """The options of a new state store, in Spark's units: block, cache, write buffer, number of buffers, open files."""
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
    default = rocksdb(engine.session)

    tune_state(
        engine.session,
        [
            ("rocksdb.table.block.size", 8192),
            ("rocksdb.table.block.cache.size", 16 << 20),
            ("rocksdb.write.buffer.size", 32 << 20),
            ("rocksdb.max.write.buffer", 3),
            ("rocksdb.files.opened.max", 100),
        ],
        StoreMemory(cache_mib=4, write_buffer_mib=3),
    )
    tuned = rocksdb(engine.session)
    tune_state(engine.session, [], None)

    assert tuned == (8, 16, 32, 3, 100)
    assert rocksdb(engine.session) == default != tuned


def test_state_stores_have_the_memory_of_the_budget_unless_the_program_sets_it(engine: MemoryEngine) -> None:
    default = rocksdb(engine.session)
    settings = [("rocksdb.files.opened.max", 100), ("rocksdb.write.buffer.size", 5 << 20)]

    tune_state(engine.session, settings, StoreMemory(cache_mib=4, write_buffer_mib=3))
    tuned = rocksdb(engine.session)
    tune_state(engine.session, [], None)

    assert tuned == (default[0], 4, 5, 2, 100)
    assert rocksdb(engine.session) == default
