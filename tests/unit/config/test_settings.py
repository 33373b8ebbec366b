"""Settings in the environment: valid values, and the errors of invalid ones."""

import json
from pathlib import Path

import pytest

from lsql_runner.config.log_levels import LEVELS
from lsql_runner.config.settings import read_settings
from lsql_runner.errors import LsqlError
from lsql_runner.types import describe
from tests.unit.config.environment import SQL, refused, settings


def test_settings_have_the_documented_defaults() -> None:
    configuration = settings()

    assert (
        configuration.port,
        configuration.state_on_loss,
        configuration.state_on_change,
        configuration.on_data_loss,
        configuration.guarantee,
    ) == (
        8083,
        "fail",
        "fail",
        "fail",
        "exactly_once",
    )


def test_the_guarantee_is_exactly_once_or_at_least_once() -> None:
    assert settings(LSQL_GUARANTEE="at_least_once").guarantee == "at_least_once"
    assert settings(LSQL_GUARANTEE="exactly_once").guarantee == "exactly_once"
    assert refused(LSQL_GUARANTEE="exactly_once_v2").params["name"] == "LSQL_GUARANTEE"


def test_errors_include_values_only_if_a_variable_says_so() -> None:
    assert settings().errors_include_values is False
    assert settings(LSQL_ERRORS_INCLUDE_VALUES="true").errors_include_values is True
    assert refused(LSQL_ERRORS_INCLUDE_VALUES="some").params["name"] == "LSQL_ERRORS_INCLUDE_VALUES"


def test_a_program_is_required() -> None:
    with pytest.raises(LsqlError) as caught:
        read_settings({"SQL_BOOTSTRAP_SERVERS": "kafka:9092"})

    assert (caught.value.code, caught.value.params["name"]) == ("ENV_MISSING", "SQL")


@pytest.mark.parametrize(
    ("name", "near"), [("SQL_APPID", "SQL_APP_ID"), ("LSQL_THREAD", "LSQL_THREADS"), ("SQL_STATE_DIR", "SQL_STATE")]
)
def test_an_unknown_name_with_our_prefix_is_refused_with_similar_names(name: str, near: str) -> None:
    error = refused(**{name: "x"})

    assert error.code == "ENV_UNKNOWN"
    assert error.params["name"] == name
    assert near in str(error.params["near"])


def test_other_variables_are_ignored() -> None:
    assert settings(HOME="/home/me", PATH="/bin", SQLITE_HOME="/x") == settings()


def test_a_value_can_be_read_from_a_file(tmp_path: Path) -> None:
    program, password = tmp_path / "program.sql", tmp_path / "password"
    program.write_text(SQL + "\n")
    password.write_text("s3cret\n")

    configuration = read_settings({"SQL_FILE": str(program), "SSL_KEY_PASSWORD_FILE": str(password)})

    assert configuration.sql == SQL
    assert dict(configuration.client_keys) == {"ssl.key.password": "s3cret"}


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    error = refused(SASL_JAAS_CONFIG_FILE=str(tmp_path / "missing"))

    assert error.code == "FILE_UNREADABLE"


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")

    assert refused(SASL_JAAS_CONFIG_FILE=str(binary)).code == "FILE_NOT_UTF8"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SQL_PORT", "0"),
        ("SQL_PORT", "eighty"),
        ("SQL_APP_ID", "-starts-with-a-dash"),
        ("SQL_APP_ID", "a/b"),
        ("SQL_APP_ID", "a" * 250),
        ("ROOT_LOG_LEVEL", "LOUD"),
        ("SECURITY_PROTOCOL", "TLS"),
        ("LSQL_STATE_ON_LOSS", "ignore"),
        ("LSQL_STATE_PARTITIONS", "-1"),
        ("LSQL_STATE_PARTITIONS", "257"),
        ("LSQL_HEAP_MIB", "159"),
        ("LSQL_MEMORY_LIMIT", "768MB"),
        ("SQL_METRIC_FREQUENCY", "1"),
        ("LSQL_API_ACTIONS", "all"),
        ("LSQL_API_TRUSTED_PROXIES", "10.0.0.1/24"),
        ("LSQL_API_TRUSTED_PROXIES", "proxy.example"),
        ("LSQL_API_TRUSTED_PROXIES", "fe80::/10%eth0"),
        ("LSQL_ALLOWED_HOSTS", "p.example, http://q.example/x"),
        ("LSQL_ALLOWED_HOSTS", "p.example:8083"),
        ("LSQL_BIND_ADDRESS", ""),
        ("LSQL_BIND_ADDRESS", "localhost"),
        ("LSQL_BIND_ADDRESS", "10.1.2.3:8083"),
        ("LSQL_BIND_ADDRESS", "[::1]"),
        ("LSQL_BIND_ADDRESS", "10.0.0.0/8"),
        ("LSQL_BIND_ADDRESS", "fe80::1%eth0"),
        ("LSQL_BIND_ADDRESS", "fe80::1"),
    ],
)
def test_an_invalid_value_is_refused_with_the_name_of_its_variable(name: str, value: str) -> None:
    error = refused(**{name: value})

    assert (error.code, error.params["name"]) == ("ENV_INVALID", name)
    assert error.params["value"] == (value or "empty")[:80]
    assert error.exit_code == 1


@pytest.mark.parametrize("level", LEVELS)
def test_every_log_level_is_accepted(level: str) -> None:
    assert settings(ROOT_LOG_LEVEL=level).log_level == level


def test_an_unknown_log_level_is_refused_with_the_known_ones() -> None:
    assert refused(ROOT_LOG_LEVEL="LOUD").params["expected"] == "one of " + ", ".join(LEVELS)


def test_log_levels_are_not_case_sensitive() -> None:
    assert settings(ROOT_LOG_LEVEL="debug").log_level == "DEBUG"


def test_an_error_never_shows_a_secret() -> None:
    environment = {"SASL_JAAS_CONFIG": 'login required password="hush-hush";', "SSL_KEY_PASSWORD": "hush-hush"}

    assert "hush-hush" not in str(refused(SQL_PORT="0", **environment))
    assert "hush-hush" not in str(refused(SQL_APPID="x", **environment))
    assert "hush-hush" not in str(refused(SQL_BOOTSTRAP_SERVERS="kafka", **environment))


@pytest.mark.parametrize("topics", ["{", "[]", '{"orders": {}}', '{"orders": {"value": {"format": "AVRO"}}}'])
def test_invalid_topics_are_refused(topics: str) -> None:
    with pytest.raises(LsqlError) as caught:
        settings(LSQL_TOPICS=topics).declared  # noqa: B018

    assert caught.value.code == "TOPICS_INVALID"


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"customer": {"country": 1}}, "topic orders, value, field customer.country: expected a type as text"),
        ({"customer": ["string"]}, "topic orders, value, field customer: expected a type as text"),
        ({"customer": {"country": "text"}}, "topic orders, value, field customer.country: unknown type 'text'"),
        (None, "topic orders, value: expected a type as text"),
    ],
)
def test_an_invalid_schema_is_refused_with_the_path_of_the_error(schema: object, expected: str) -> None:
    topics = {"orders": {"value": {"format": "JSON", "schema": schema}}}

    with pytest.raises(LsqlError) as caught:
        settings(LSQL_TOPICS=json.dumps(topics)).declared  # noqa: B018

    assert expected in str(caught.value.params["reason"])


def test_an_object_within_a_schema_is_a_struct() -> None:
    topics = {"orders": {"value": {"format": "JSON", "schema": {"customer": {"country": "string"}}}}}

    value = settings(LSQL_TOPICS=json.dumps(topics)).declared["orders"].value

    assert describe(value.type) == "struct<customer: struct<country: string>>"


def test_topics_are_declared_as_json() -> None:
    topics = {"orders": {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": {"id": "long"}}}}

    declared = settings(LSQL_TOPICS=json.dumps(topics)).declared

    assert str(declared["orders"].key.format) == "STRING"
    assert declared["orders"].origin == "declared"


def test_the_heap_is_zero_or_at_least_the_minimum_of_spark() -> None:
    assert settings().heap_mib == 0
    assert settings(LSQL_HEAP_MIB="160").heap_mib == 160
    assert refused(LSQL_HEAP_MIB="159").params["name"] == "LSQL_HEAP_MIB"


@pytest.mark.parametrize(
    ("text", "mib"),
    [
        ("", None),
        ("768Mi", 768),
        ("1Gi", 1024),
        ("1.5Gi", 1536),
        ("805306368", 768),
        ("800M", 762),
        ("1G", 953),
        ("1e9", 953),
        ("1.5E+9", 1430),
        ("1Pi", 2**30),
        ("1Ei", 2**40),
    ],
)
def test_the_memory_limit_is_a_quantity_of_kubernetes(text: str, mib: int | None) -> None:
    assert settings(LSQL_MEMORY_LIMIT=text).memory_limit_mib == mib


def test_the_files_with_values_are_listed(tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text("s3cret\n")

    configuration = settings(SASL_PASSWORD_FILE=str(secret), SASL_USERNAME="app")

    assert configuration.files == (secret,)
    assert dict(configuration.client_keys) == {"sasl.password": "s3cret", "sasl.username": "app"}
