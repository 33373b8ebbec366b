"""`lsql-console`: the output and the exit code of each command."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from click.testing import CliRunner

from ci.tools.ports import free_port
from devkit.fake_cluster import FakeCluster, workload
from devkit.process import Process
from lsql_runner.cli import console as module
from lsql_runner.cli.console import cli
from lsql_runner.console.auth import Tokens
from lsql_runner.console.storage import decode


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text("namespaces: [streams]\ndocument: {namespace: home}\nrunners: {timeoutSeconds: 0.2}\n")
    return path


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    made = FakeCluster()
    monkeypatch.setattr(module, "_cluster", lambda stack: made)
    return made


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    return result.exit_code, result.output


class TestRecover:
    def test_publishes_and_logs_a_summary(self, config: Path, cluster: FakeCluster) -> None:
        cluster.add(workload("a", replicas=0))

        code, output = run("recover", "--config", config)

        assert code == 0
        document = decode(cluster.config_map("home", "lsql-processors").content)
        assert document is not None
        assert [entry.name for entry in document.processors] == ["a"]
        last = json.loads(output.splitlines()[-1])
        assert (last["message"], last["processors"], last["adopted"]) == ("published", 1, 1)
        assert last["states"] == {"scaled-down": 1}

    def test_exits_with_3_if_a_namespace_could_not_be_read(self, config: Path, cluster: FakeCluster) -> None:
        cluster.refused.add(("workloads", "streams"))

        assert run("recover", "--config", config)[0] == 3

    def test_exits_with_3_if_the_api_server_is_unreachable(self, config: Path, cluster: FakeCluster) -> None:
        cluster.down = True

        code, output = run("recover", "--config", config)

        assert code == 3
        assert "CLUSTER_REFUSED: The API server failed to read ConfigMap/lsql-processors: connection refused." in output

    def test_exits_with_1_if_the_configuration_is_wrong(self, config: Path) -> None:
        config.write_text("namespaces: streams\n")

        code, output = run("recover", "--config", config)

        assert code == 1
        assert "CONSOLE_CONFIG_INVALID" in output

    def test_exits_with_2_for_an_unknown_option(self) -> None:
        assert run("recover", "--colour", "red")[0] == 2


class TestToken:
    def test_prints_a_line_for_the_token_file(self, tmp_path: Path) -> None:
        code, output = run("token", "ada", "--role", "operator")

        token, line = (text.partition(":")[2].strip() for text in output.splitlines())
        file = tmp_path / "tokens"
        file.write_text(line)
        [caller] = Tokens(file).known().values()
        assert (code, caller.name, caller.role) == (0, "ada", "operator")
        assert len(token) >= 40
        assert token not in line

    def test_a_name_is_one_word(self) -> None:
        assert run("token", "ada lovelace")[0] == 2
        assert run("token", "ada,eve")[0] == 2
        assert run("token", "a" * 129)[0] == 2


class TestServe:
    @pytest.fixture
    def server(self, config: Path, tmp_path: Path) -> Iterator[Process]:
        """A console whose API server is unreachable."""
        port, nowhere = free_port(), free_port()
        config.write_text(config.read_text() + f"port: {port}\n")
        kubeconfig = tmp_path / "kubeconfig"
        cluster = {"name": "c", "cluster": {"server": f"http://127.0.0.1:{nowhere}"}}
        context = {"name": "x", "context": {"cluster": "c", "user": "u"}}
        users = [{"name": "u", "user": {"token": "t"}}]
        known = {"clusters": [cluster], "contexts": [context], "users": users, "current-context": "x"}
        kubeconfig.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", **known}))

        def answers() -> bool:
            return status(port, "/health/live") == 200

        command = "from lsql_runner.cli.console import main; main()"
        process = Process(
            [sys.executable, "-c", command, "serve", "--config", config],
            name="console",
            probe=answers,
            env={"KUBECONFIG": str(kubeconfig)},
        )
        with process:
            yield process

    def test_without_an_api_server_it_is_live_but_not_ready(self, server: Process, config: Path) -> None:
        port = int(config.read_text().rsplit(":", 1)[1])

        assert status(port, "/health/ready") == 503
        assert status(port, "/") == 200
        assert status(port, "/api/v1/streams") == 502
        assert server.stop() == 0
        assert "the cluster cannot be read" in server.output()
        assert "Traceback" not in server.output()


def status(port: int, path: str) -> int:
    try:
        with urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as response:
            return int(response.status)
    except HTTPError as error:
        with error:
            return error.code
