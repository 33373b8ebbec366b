"""SET as a program writes it: what each key becomes, and what is said of those that become nothing."""

import pytest

from lsql_runner.bind.kafka_keys import CONSUMER_KEYS, IGNORED_KEYS, PRODUCER_KEYS, TOPIC_KEYS
from lsql_runner.bind.rocksdb_keys import ROCKSDB_IGNORED, ROCKSDB_KEYS
from lsql_runner.bind.settings import ProgramSettings, bind_settings
from lsql_runner.bind.topic_settings import TopicSettings
from lsql_runner.engine.state_options import SPARK_OPTIONS
from lsql_runner.errors import LsqlError
from lsql_runner.sql.ast import SetStatement
from lsql_runner.sql.parser import parse
from lsql_runner.sql.unsupported import KEYS_OF_ENGINE


def statements(sets: str) -> tuple[SetStatement, ...]:
    return parse(f"{sets}; INSERT INTO t SELECT STREAM * FROM s").settings


def bound(sets: str) -> ProgramSettings:
    return bind_settings(statements(sets))


def refused(sets: str) -> LsqlError:
    with pytest.raises(LsqlError) as caught:
        bound(sets)
    return caught.value


def test_a_bare_client_key_is_of_the_client_that_knows_it() -> None:
    found = bound("SET max.poll.records=100; SET linger.ms=5")

    assert (found.consumer, found.producer) == ((("max.poll.records", "100"),), (("linger.ms", "5"),))


def test_a_bare_key_that_both_clients_know_is_of_both() -> None:
    found = bound("SET request.timeout.ms=9000")

    assert found.consumer == found.producer == (("request.timeout.ms", "9000"),)


@pytest.mark.parametrize("client", ["consumer", "producer"])
def test_a_prefix_names_the_client(client: str) -> None:
    found = bound(f"SET {client}.client.id='a b'")

    assert {"consumer": found.consumer, "producer": found.producer} == {
        "consumer": (),
        "producer": (),
        client: (("client.id", "a b"),),
    }


@pytest.mark.parametrize("key", sorted(IGNORED_KEYS | ROCKSDB_IGNORED))
def test_a_key_without_a_meaning_changes_nothing_and_is_told(key: str) -> None:
    found = bound(f"SET `{key}`='1'")

    [warning] = found.warnings
    assert key in warning
    assert found == ProgramSettings(warnings=(warning,))


@pytest.mark.parametrize("key", sorted(KEYS_OF_ENGINE))
def test_a_key_that_has_another_home_is_refused_with_that(key: str) -> None:
    error = refused(f"SET `{key}`='x'")

    assert (error.code, error.params["instead"]) == ("FEATURE_UNSUPPORTED", KEYS_OF_ENGINE[key])


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("sasl.jaas.config", "SASL_JAAS_CONFIG"),
        ("consumer.ssl.truststore.location", "SSL_TRUSTSTORE_LOCATION"),
        ("producer.security.protocol", "SECURITY_PROTOCOL"),
    ],
)
def test_credentials_are_no_part_of_a_program(key: str, name: str) -> None:
    error = refused(f"SET `{key}`='hush'")

    assert (error.code, error.params["instead"]) == (
        "FEATURE_UNSUPPORTED",
        f"set {name}, in the environment of the processor",
    )


def test_state_stores_are_set_in_the_units_of_their_keys() -> None:
    found = bound("SET rocksdb.table.block.cache.size=16777216; SET `rocksdb.files.opened.max`='100'")

    assert found.rocksdb == (("rocksdb.table.block.cache.size", 16 << 20), ("rocksdb.files.opened.max", 100))


@pytest.mark.parametrize("key", sorted(ROCKSDB_KEYS))
@pytest.mark.parametrize("value", ["0", "-1", "1.5", "x", "\u0661"])
def test_a_size_of_state_stores_is_a_whole_number_above_zero(key: str, value: str) -> None:
    assert refused(f"SET {key}='{value}'").code == "SETTING_INVALID"


@pytest.mark.parametrize("key", sorted(key for key, (unit, _) in ROCKSDB_KEYS.items() if unit > 1))
def test_what_the_engine_would_have_to_round_is_refused(key: str) -> None:
    unit = ROCKSDB_KEYS[key][0]

    assert bound(f"SET {key}={unit}").rocksdb == ((key, unit),)
    assert refused(f"SET {key}={unit + 1}").code == "SETTING_INVALID"


def test_the_engine_knows_each_key_of_state_stores_in_its_unit() -> None:
    assert {key: unit for key, (unit, _) in ROCKSDB_KEYS.items()} == {k: unit for k, (_, unit) in SPARK_OPTIONS.items()}


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("rocksdb.block.size", "rocksdb.table.block.size"),
        ("max.pol.records", "max.poll.records"),
        ("autocreat", "autocreate"),
        ("default.topic.partitions", "defaults.topic.partitions"),
        ("auto.offset.rest", "auto.offset.reset"),
        ("consumer.linger.ms", "linger.ms"),
        ("commit.intervall.ms", "commit.interval.ms"),
        ("AUTOCREATE", "autocreate"),
        ("topic.t.retention", "topic.t.retention.ms"),
    ],
)
def test_an_unknown_key_is_refused_with_near_ones(key: str, near: str) -> None:
    error = refused(f"SET {key}=1")

    assert error.code == "SETTING_UNKNOWN"
    assert near in str(error.params["near"]).split(", ")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("linger.ms", "soon"),
        ("check.crcs", "1"),
        ("isolation.level", "all"),
        ("compression.type", "LZ4"),
        ("batch.size", "\u0661"),
        ("retries", "0"),
        ("max.in.flight.requests.per.connection", "6"),
    ],
)
def test_a_value_that_the_client_would_refuse_is_refused_before(key: str, value: str) -> None:
    assert refused(f"SET {key}='{value}'").code == "SETTING_INVALID"


def test_no_key_is_in_two_tables() -> None:
    tables = [
        CONSUMER_KEYS | PRODUCER_KEYS,
        set(KEYS_OF_ENGINE),
        set(IGNORED_KEYS),
        set(ROCKSDB_KEYS),
        set(ROCKSDB_IGNORED),
    ]

    assert sum(map(len, tables)) == len(set().union(*tables))


@pytest.mark.parametrize("key", sorted(TOPIC_KEYS))
def test_a_topics_key_is_taken_in_each_spelling(key: str) -> None:
    settings = TopicSettings().with_config(key, "1")

    assert bound(f"SET defaults.topic.{key}='1'").topics == settings
    assert bound(f"SET `topic.{key}`='1'").topics == settings
    assert bound(f"SET `topic.orders.eu.{key}`='1'").topic("orders.eu") == settings


@pytest.mark.parametrize("value", ["exactly_once", "exactly_once_beta", "exactly_once_v2"])
def test_a_guarantee_that_is_not_given_is_refused_by_name(value: str) -> None:
    assert refused(f"SET processing.guarantee={value}").code == "FEATURE_UNSUPPORTED"
