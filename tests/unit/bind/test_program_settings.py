"""SET: the setting of each key, and the errors and warnings of other keys."""

import time
from collections.abc import Callable

import pytest

from lsql_runner.bind.kafka_settings import CONSUMER_KEYS, IGNORED_KEYS, PRODUCER_KEYS, TOPIC_KEYS
from lsql_runner.bind.rocksdb_settings import ROCKSDB_IGNORED, ROCKSDB_KEYS
from lsql_runner.bind.settings import ProgramSettings, bind_settings
from lsql_runner.bind.topic_settings import TopicSettings
from lsql_runner.engine.state_options import SPARK_OPTIONS
from lsql_runner.errors import LsqlError
from lsql_runner.sql.ast import SetStatement
from lsql_runner.sql.parser import parse
from lsql_runner.sql.unsupported import KEYS_OF_ENGINE


def statements(sets: str) -> tuple[SetStatement, ...]:
    return parse(f"{sets}; INSERT INTO t SELECT STREAM * FROM s").settings


def settings_of(sets: str) -> ProgramSettings:
    return bind_settings(statements(sets))


def error_of(sets: str) -> LsqlError:
    with pytest.raises(LsqlError) as error:
        settings_of(sets)
    return error.value


def test_a_key_without_prefix_is_set_for_the_client_that_has_it() -> None:
    settings = settings_of("SET max.poll.records=100; SET linger.ms=5")

    assert (settings.consumer, settings.producer) == ((("max.poll.records", "100"),), (("linger.ms", "5"),))


def test_the_pace_is_a_duration() -> None:
    settings = settings_of("SET processing.pace='1s'")

    assert settings.pace_of(stateful=False) == settings.pace_of(stateful=True) == 1000
    assert error_of("SET processing.pace=fast").code == "SETTING_INVALID"


def test_state_has_as_many_partitions_as_the_program_sets() -> None:
    assert settings_of("SET state.partitions=4").state_partitions == 4
    assert error_of("SET state.partitions=0").code == "SETTING_INVALID"
    assert error_of("SET state.partitions=257").code == "SETTING_INVALID"


def test_by_default_a_query_with_state_begins_fewer_batches() -> None:
    settings = settings_of("")

    assert (settings.pace_of(stateful=False), settings.pace_of(stateful=True)) == (200, 500)


def test_a_key_without_prefix_that_both_clients_have_is_set_for_both() -> None:
    settings = settings_of("SET request.timeout.ms=9000")

    assert settings.consumer == settings.producer == (("request.timeout.ms", "9000"),)


@pytest.mark.parametrize("client", ["consumer", "producer"])
def test_a_prefix_names_the_client(client: str) -> None:
    settings = settings_of(f"SET {client}.client.id='a b'")

    assert {"consumer": settings.consumer, "producer": settings.producer} == {
        "consumer": (),
        "producer": (),
        client: (("client.id", "a b"),),
    }


@pytest.mark.parametrize("key", sorted(IGNORED_KEYS | ROCKSDB_IGNORED))
def test_a_key_without_effect_causes_a_warning(key: str) -> None:
    settings = settings_of(f"SET `{key}`='1'")

    [warning] = settings.warnings
    assert key in warning
    assert settings == ProgramSettings(warnings=(warning,))


@pytest.mark.parametrize(
    ("key", "value"),
    [("enable.auto.commit", "false"), ("consumer.enable.auto.commit", "FALSE"), ("acks", "all"), ("acks", "-1")],
)
def test_the_value_that_a_setting_of_the_engine_always_has_causes_a_warning(key: str, value: str) -> None:
    settings = settings_of(f"SET {key}={value}")

    assert settings.warnings == (f"SET {key} has no effect: the value is always {value}",)
    assert (settings.consumer, settings.producer) == ((), ())


@pytest.mark.parametrize("key", sorted(KEYS_OF_ENGINE))
def test_a_key_of_the_engine_is_an_error_with_an_alternative(key: str) -> None:
    error = error_of(f"SET `{key}`='x'")

    assert (error.code, error.params["instead"]) == ("FEATURE_UNSUPPORTED", KEYS_OF_ENGINE[key])


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("sasl.jaas.config", "SASL_JAAS_CONFIG"),
        ("consumer.ssl.truststore.location", "SSL_TRUSTSTORE_LOCATION"),
        ("producer.security.protocol", "SECURITY_PROTOCOL"),
    ],
)
def test_a_program_cannot_set_credentials(key: str, name: str) -> None:
    error = error_of(f"SET `{key}`='secret'")

    assert (error.code, error.params["instead"]) == (
        "FEATURE_UNSUPPORTED",
        f"set {name}, in the environment of the processor",
    )


def test_rocksdb_settings_are_whole_numbers() -> None:
    settings = settings_of("SET rocksdb.table.block.cache.size=16777216; SET `rocksdb.files.opened.max`='100'")

    assert settings.rocksdb == (("rocksdb.table.block.cache.size", 16 << 20), ("rocksdb.files.opened.max", 100))


@pytest.mark.parametrize("key", sorted(ROCKSDB_KEYS))
@pytest.mark.parametrize("value", ["0", "-1", "1.5", "x", "\u0661"])
def test_a_rocksdb_setting_must_be_a_whole_number_above_zero(key: str, value: str) -> None:
    assert error_of(f"SET {key}='{value}'").code == "SETTING_INVALID"


@pytest.mark.parametrize("key", sorted(key for key, (unit, _) in ROCKSDB_KEYS.items() if unit > 1))
def test_a_rocksdb_size_must_be_a_multiple_of_its_unit(key: str) -> None:
    unit = ROCKSDB_KEYS[key][0]

    assert settings_of(f"SET {key}={unit}").rocksdb == ((key, unit),)
    assert error_of(f"SET {key}={unit + 1}").code == "SETTING_INVALID"


def test_the_engine_has_a_spark_option_with_the_same_unit_for_each_rocksdb_key() -> None:
    assert {key: unit for key, (unit, _) in ROCKSDB_KEYS.items()} == {k: unit for k, (_, unit) in SPARK_OPTIONS.items()}


def test_the_name_of_a_topic_in_a_key_may_be_in_back_ticks() -> None:
    settings = settings_of("SET topic.`market.risk`.cleanup.policy='compact,delete'; SET topic.`a b`.partitions=3")

    assert settings.topic("market.risk").config == (("cleanup.policy", "compact,delete"),)
    assert settings.topic("a b").partitions == 3


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
def test_an_unknown_key_is_an_error_with_similar_keys(key: str, near: str) -> None:
    error = error_of(f"SET {key}=1")

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
def test_a_value_that_the_kafka_client_rejects_is_invalid(key: str, value: str) -> None:
    assert error_of(f"SET {key}='{value}'").code == "SETTING_INVALID"


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
def test_a_topic_key_can_be_set_for_all_topics_or_for_one(key: str) -> None:
    settings = TopicSettings().with_config(key, "1")

    assert settings_of(f"SET defaults.topic.{key}='1'").topics == settings
    assert settings_of(f"SET `topic.{key}`='1'").topics == settings
    assert settings_of(f"SET `topic.orders.eu.{key}`='1'").topic("orders.eu") == settings


@pytest.mark.parametrize("value", ["exactly_once", "exactly_once_beta", "exactly_once_v2"])
def test_every_name_of_exactly_once_is_the_same_guarantee(value: str) -> None:
    assert settings_of(f"SET processing.guarantee={value}").guarantee == "exactly_once"


def test_a_program_can_choose_at_least_once() -> None:
    assert settings_of("SET processing.guarantee='at_least_once'").guarantee == "at_least_once"


def test_without_a_guarantee_in_the_program_that_of_the_processor_is_used() -> None:
    assert settings_of("").guarantee is None


def test_another_guarantee_is_invalid() -> None:
    assert error_of("SET processing.guarantee='at_most_once'").code == "SETTING_INVALID"


def test_the_commit_interval_is_that_of_kafka_streams_unless_it_is_set() -> None:
    assert settings_of("").commit_interval_ms == 100
    assert settings_of("SET commit.interval.ms=1").commit_interval_ms == 1
    assert settings_of("SET commit.interval.ms='600000'").commit_interval_ms == 600_000


@pytest.mark.parametrize("value", ["0", "600001", "-1", "1s"])
def test_another_commit_interval_is_invalid(value: str) -> None:
    assert error_of(f"SET commit.interval.ms='{value}'").code == "SETTING_INVALID"


@pytest.mark.parametrize("key", ["transaction.timeout.ms", "producer.transaction.timeout.ms"])
def test_the_timeout_of_transactions_is_passed_to_the_producer(key: str) -> None:
    settings = settings_of(f"SET `{key}`=30000")

    assert (settings.consumer, settings.producer) == ((), (("transaction.timeout.ms", "30000"),))
    assert error_of(f"SET `{key}`=soon").code == "SETTING_INVALID"


def test_a_program_cannot_set_the_ids_of_its_transactions() -> None:
    assert error_of("SET transactional.id='mine'").code == "FEATURE_UNSUPPORTED"


def test_a_key_of_one_topic_replaces_that_of_all_topics_also_if_it_is_set_before() -> None:
    settings = settings_of(
        "SET topic.a.partitions=3; SET topic.a.replication=2; SET partitions=7; SET topic.b.replication=1"
    )

    assert [(t.partitions, t.replication) for t in map(settings.topic, "abc")] == [(3, 2), (7, 1), (7, None)]


def test_the_time_of_settings_of_topics_grows_with_their_number() -> None:
    def seconds(count: int) -> float:
        sets = statements(";".join(f"SET topic.t{n}.partitions=3" for n in range(count)))
        return min(_processor_time(lambda: bind_settings(sets)) for _ in range(3))

    assert seconds(8000) < 20 * seconds(1000)  # it is 8 times as many; the square is 64


def _processor_time(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start
