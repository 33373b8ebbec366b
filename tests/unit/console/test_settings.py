"""The console's configuration is read strictly, and unsafe ones are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsql_runner.console.settings import read_settings
from lsql_runner.errors import LsqlError

LEAST = "namespaces: [streams]\ndocument: {namespace: console}\n"


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
    found = read_settings(written(tmp_path, LEAST))

    assert found.namespaces == ("streams",)
    assert (found.document.name, found.port, found.auth.mode) == ("lsql-processors", 8084, "none")
    assert found.actions.model_dump() == {"stop": False, "start": False, "scale": False, "delete": False}
    assert found.logs.enabled is False


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("document: {namespace: x}", "namespaces"),
        ("namespaces: []\ndocument: {namespace: x}", "namespaces"),
        (LEAST + "actoins: {}", "actoins"),
        (LEAST + "actions: {stopp: true}", "actions.stopp"),
        (LEAST + "runners: {timeoutSeconds: 0}", "runners.timeoutSeconds"),
        (LEAST + "auth: {mode: password}", "auth.mode"),
        (LEAST + "auth: {header: {trustedProxies: [everywhere]}}", "auth.header.trustedProxies.0"),
        ("", "$"),
        ("a: [", "$"),
    ],
)
def test_a_wrong_place_is_named(tmp_path: Path, text: str, place: str) -> None:
    assert refused(tmp_path, text).params["place"] == place


def test_actions_need_authentication(tmp_path: Path) -> None:
    error = refused(tmp_path, LEAST + "actions: {stop: true}")

    assert "auth.mode" in str(error.params["reason"])


def test_headers_need_proxies_that_are_trusted(tmp_path: Path) -> None:
    error = refused(tmp_path, LEAST + "auth: {mode: header}")

    assert "trustedProxies" in str(error.params["reason"])


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(LsqlError) as caught:
        read_settings(tmp_path / "nothing.yaml")

    assert caught.value.code == "FILE_UNREADABLE"
