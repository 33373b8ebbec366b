"""The console's configuration: unknown keys and unsafe combinations are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsql_runner.console.settings import read_settings
from lsql_runner.errors import LsqlError

MINIMAL = "namespaces: [streams]\ndocument: {namespace: console}\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "config.yaml"
    path.write_text(text)
    return path


def refused(folder: Path, text: str) -> LsqlError:
    with pytest.raises(LsqlError) as caught:
        read_settings(written(folder, text))
    assert caught.value.code == "CONSOLE_CONFIG_INVALID"
    return caught.value


def test_the_minimal_configuration_allows_no_action(tmp_path: Path) -> None:
    settings = read_settings(written(tmp_path, MINIMAL))

    assert settings.namespaces == ("streams",)
    assert (settings.document.name, settings.port, settings.auth.mode) == ("lsql-processors", 8084, "none")
    assert settings.actions.model_dump() == {"stop": False, "start": False, "scale": False, "delete": False}
    assert settings.logs.enabled is False


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("document: {namespace: x}", "namespaces"),
        ("namespaces: []\ndocument: {namespace: x}", "namespaces"),
        (MINIMAL + "actoins: {}", "actoins"),
        (MINIMAL + "actions: {stopp: true}", "actions.stopp"),
        (MINIMAL + "runners: {timeoutSeconds: 0}", "runners.timeoutSeconds"),
        (MINIMAL + "auth: {mode: password}", "auth.mode"),
        (MINIMAL + "logLevel: LOUD", "logLevel"),
        (MINIMAL + "allowedHosts: [console.example, 'console.example:8084']", "allowedHosts.1"),
        (MINIMAL + "auth: {header: {trustedProxies: [everywhere]}}", "auth.header.trustedProxies.0"),
        (MINIMAL + "auth: {header: {trustedProxies: ['fd00::/8', 'fe80::1%eth0']}}", "auth.header.trustedProxies.1"),
        ("", "$"),
        ("a: [", "$"),
    ],
)
def test_an_invalid_value_is_reported_with_its_key(tmp_path: Path, text: str, place: str) -> None:
    assert refused(tmp_path, text).params["place"] == place


def test_actions_need_authentication(tmp_path: Path) -> None:
    error = refused(tmp_path, MINIMAL + "actions: {stop: true}")

    assert "auth.mode" in str(error.params["reason"])


def test_header_authentication_needs_trusted_proxies(tmp_path: Path) -> None:
    error = refused(tmp_path, MINIMAL + "auth: {mode: header}")

    assert "trustedProxies" in str(error.params["reason"])


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(LsqlError) as caught:
        read_settings(tmp_path / "nothing.yaml")

    assert caught.value.code == "FILE_UNREADABLE"
