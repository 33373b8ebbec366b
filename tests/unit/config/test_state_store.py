"""LSQL_STATE_URI, and the settings of Hadoop for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsql_runner.config.jvm_options import connector_mib
from lsql_runner.config.settings import Settings, read_settings
from lsql_runner.container.budget import CONNECTOR_MIB
from lsql_runner.errors import Detail, LsqlError
from lsql_runner.service import memory_budget


def settings(**variables: str) -> Settings:
    return read_settings({"SQL": "x", **variables})


def expected_of(error: LsqlError) -> Detail:
    expected = error.params["expected"]
    assert isinstance(expected, Detail)
    return expected


def refusal(**variables: str) -> LsqlError:
    with pytest.raises(LsqlError) as caught:
        settings(**variables).state_store  # noqa: B018
    return caught.value


def test_without_a_uri_the_state_is_in_the_state_directory() -> None:
    assert settings().state_store is None


@pytest.mark.parametrize(
    ("uri", "scheme"),
    [
        ("s3a://bucket/some/path", "s3a"),
        ("s3a://bucket", "s3a"),
        ("file:///mnt/shared", "file"),
    ],
)
def test_a_uri_of_a_known_scheme_is_accepted(uri: str, scheme: str) -> None:
    store = settings(LSQL_STATE_URI=f"{uri}/").state_store

    assert store is not None
    assert (store.uri, store.scheme) == (uri, scheme)


@pytest.mark.parametrize(
    ("uri", "code"),
    [
        ("bucket/path", "FORM"),
        ("s3a:/bucket/path", "FORM"),
        ("s3a://bucket/a b", "FORM"),
        ("s3a://bucket/path?x=1", "FORM"),
        ("s3://bucket/path", "S3"),
        ("gs://bucket/path", "SCHEME"),
        ("s3a:///path", "BUCKET"),
        ("s3a://key:secret@bucket/path", "CREDENTIALS"),
    ],
)
def test_other_uris_are_refused(uri: str, code: str) -> None:
    error = refusal(LSQL_STATE_URI=uri)

    assert (error.code, expected_of(error).code) == ("ENV_INVALID", code)


def test_options_are_settings_of_hadoop() -> None:
    store = settings(
        LSQL_STATE_URI="s3a://b/p",
        LSQL_STATE_OPTION_FS_S3A_ENDPOINT="http://store:9000",
        LSQL_STATE_OPTION_FS_S3A_PATH_STYLE_ACCESS="true",
    ).state_store

    assert store is not None
    assert store.options == (("fs.s3a.endpoint", "http://store:9000"), ("fs.s3a.path.style.access", "true"))


def test_a_secret_option_is_read_from_a_file_and_not_shown(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("do-not-show\n")

    configuration = settings(LSQL_STATE_URI="s3a://b/p", LSQL_STATE_OPTION_FS_S3A_SECRET_KEY_FILE=str(tmp_path / "key"))

    assert configuration.state_store is not None
    assert configuration.state_store.options == (("fs.s3a.secret.key", "do-not-show"),)
    assert "do-not-show" not in repr(configuration.state_store)
    assert tmp_path / "key" in configuration.files


def test_a_site_file_has_options_which_variables_replace(tmp_path: Path) -> None:
    site = tmp_path / "core-site.xml"
    site.write_text(
        "<?xml version='1.0'?><configuration>"
        "<property><name>fs.s3a.endpoint</name><value>http://one</value></property>"
        "<property><name> fs.s3a.bucket.my-bucket.endpoint.region </name><value> eu </value></property>"
        "</configuration>"
    )

    store = settings(
        LSQL_STATE_URI="s3a://b/p", LSQL_STATE_SITE=str(site), LSQL_STATE_OPTION_FS_S3A_ENDPOINT="http://two"
    ).state_store

    assert store is not None
    assert dict(store.options) == {"fs.s3a.endpoint": "http://two", "fs.s3a.bucket.my-bucket.endpoint.region": "eu"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("<configuration>", "XML"),
        ("fs.s3a.endpoint=x", "XML"),
        ("<configuration><property><name>a</name></property></configuration>", "PROPERTY"),
        ("<x><property><name>a</name><value>b</value></property></x>", "PROPERTY"),
    ],
)
def test_an_invalid_site_file_is_refused(tmp_path: Path, text: str, code: str) -> None:
    (tmp_path / "site.xml").write_text(text)

    error = refusal(LSQL_STATE_URI="s3a://b/p", LSQL_STATE_SITE=str(tmp_path / "site.xml"))

    assert (error.code, error.params["name"], expected_of(error).code) == ("ENV_INVALID", "LSQL_STATE_SITE", code)


def test_a_site_file_is_watched_if_it_is_read(tmp_path: Path) -> None:
    site = str(tmp_path / "core-site.xml")

    assert settings(LSQL_STATE_URI="s3a://b/p", LSQL_STATE_SITE=site).files == (Path(site),)
    assert settings(LSQL_STATE_SITE=site).files == ()


def test_a_missing_site_file_is_refused(tmp_path: Path) -> None:
    assert refusal(LSQL_STATE_URI="s3a://b", LSQL_STATE_SITE=str(tmp_path / "no")).code == "FILE_UNREADABLE"


def test_options_without_a_uri_are_refused() -> None:
    error = refusal(LSQL_STATE_OPTION_FS_S3A_ENDPOINT="http://store:9000")

    assert (error.code, error.params["name"]) == ("ENV_MISSING", "LSQL_STATE_URI")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, 0),
        ({"LSQL_STATE_URI": "file:///mnt/shared"}, 0),
        ({"LSQL_STATE_URI": "s3a://bucket/path"}, CONNECTOR_MIB),
        ({"LSQL_STATE_JARS": "/jars"}, CONNECTOR_MIB),
    ],
)
def test_a_connector_is_part_of_the_memory_budget(variables: dict[str, str], expected: int) -> None:
    configuration = settings(**variables)
    without = settings()

    assert connector_mib(configuration) == expected
    assert memory_budget(without).heap_mib - memory_budget(configuration).heap_mib == expected
