"""Addresses and settings of a cluster."""

import pytest

from lsql_runner.jvm.workers import Workers, connection_settings, driver_settings, master_settings

SECRET = "0123456789abcdef"


def workers(host: str = "processor.example.com", encryption: bool = True) -> Workers:
    return Workers(host=host, port=7077, secret=SECRET, encryption=encryption)


@pytest.mark.parametrize(
    ("host", "address"),
    [("processor.example.com", "0.0.0.0"), ("127.0.0.1", "127.0.0.1"), ("[::1]", "[::1]"), ("localhost", "0.0.0.0")],
)
def test_the_driver_listens_on_an_address_and_for_a_name_on_all(host: str, address: str) -> None:
    assert workers(host).bind_address == address
    assert driver_settings(workers(host))["spark.driver.bindAddress"] == address


def test_the_driver_uses_the_two_ports_after_that_of_the_master() -> None:
    settings = driver_settings(workers())

    assert settings["spark.master"] == "spark://processor.example.com:7077"
    assert (settings["spark.driver.port"], settings["spark.driver.blockManager.port"]) == ("7078", "7079")
    assert settings["spark.port.maxRetries"] == "0"


def test_each_connection_is_authenticated() -> None:
    for settings in (connection_settings(workers()), driver_settings(workers()), master_settings(workers())):
        assert settings["spark.authenticate"] == "true"


@pytest.mark.parametrize("encryption", [True, False])
def test_encryption_is_a_setting(encryption: bool) -> None:
    settings = connection_settings(workers(encryption=encryption))

    assert settings["spark.network.crypto.enabled"] == str(encryption).lower()


def test_the_secret_is_not_among_the_settings_that_are_on_a_command_line() -> None:
    assert SECRET not in str(connection_settings(workers()))
    assert SECRET not in repr(workers())


def test_a_silent_process_is_lost_within_half_a_minute() -> None:
    driver, master = driver_settings(workers()), master_settings(workers())

    seconds = {name: int(value.removesuffix("s")) for name, value in driver.items() if "network.timeout" in name}
    assert sum(seconds.values()) <= 30
    assert int(master["spark.worker.timeout"]) <= 30


def test_options_of_the_jvm_cannot_start_copies_of_running_tasks() -> None:
    assert driver_settings(workers())["spark.speculation"] == "false"  # precedes -Dspark.speculation=true
