"""The tests pass credentials in the variables that the chart sets."""

from pathlib import Path

from devkit.certificates import Authority
from devkit.security import Credentials

TEMPLATES = Path(__file__).parents[2] / "charts/lsql-runner/templates"


def test_the_credentials_of_tests_use_the_variables_of_the_chart(tmp_path: Path) -> None:
    credentials, authority = Credentials(tmp_path), Authority()
    variables = {
        **credentials.trust(authority),
        **credentials.client(authority.issue("runner.example"), password="secret"),
        **credentials.user("PLAIN", "runner", "secret"),
        **credentials.oauth("http://127.0.0.1/token", "runner", "secret", "kafka"),
    }
    chart = "".join((TEMPLATES / name).read_text() for name in ("_environment.tpl", "_kafka.tpl"))

    assert [name for name in variables if f'"{name}"' not in chart] == []
