"""Reads settings from the environment of a processor, for the tests of this folder."""

import pytest

from lsql_runner.config.settings import Settings, read_settings
from lsql_runner.errors import LsqlError

SQL = "INSERT INTO target SELECT STREAM * FROM source"


def settings(**environment: str) -> Settings:
    """The settings of a program with brokers, and with these variables."""
    return read_settings({"SQL": SQL, "SQL_BOOTSTRAP_SERVERS": "kafka:9092"} | environment)


def refused(**environment: str) -> LsqlError:
    """The error of these variables."""
    with pytest.raises(LsqlError) as caught:
        settings(**environment).connection  # noqa: B018  # the property checks the addresses
    return caught.value
