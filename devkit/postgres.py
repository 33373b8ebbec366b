"""A real PostgreSQL for tests: a server on a random port, in a temporary folder."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ci.tools.ports import free_port
from devkit.certificates import Certificate
from devkit.process import Process, accepts_connections
from devkit.waiting import wait_until

USER, PASSWORD, DATABASE = "lsql", "of the test", "postgres"
COMMAND_S = 60
INITDB = ("-A", "scram-sha-256", "-N", "-E", "UTF8", "--locale=C")
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "shared_buffers": "16MB",
    "max_wal_size": "64MB",
    "autovacuum": "off",
}

_LOCKED = "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = '{table}'::regclass AND mode = 'AccessExclusiveLock')"

TLS_SETTINGS = {"ssl": "on", "ssl_cert_file": "../server.crt", "ssl_key_file": "../server.key"}
"""The paths are relative to the data directory."""


class Postgres(Process):
    """A server with one user, who needs a password. `stop` (or `kill`) and `start` keep port and data.

    With a certificate it also accepts connections with TLS.
    """

    def __init__(self, certificate: Certificate | None = None) -> None:
        self.port = free_port()
        settings = SETTINGS if certificate is None else SETTINGS | TLS_SETTINGS
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        super().__init__(
            [*_as_postgres(), _program("postgres"), "-D", "data", "-p", str(self.port), *options],
            name="postgres",
            probe=lambda: accepts_connections(self.port) and self._answers(),
        )
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        files = [self.folder, secret]
        if certificate is not None:
            for name, text in (("server.crt", certificate.chain), ("server.key", certificate.key)):
                files.append(self.folder / name)
                files[-1].write_text(text)
                files[-1].chmod(0o600)
        if os.getuid() == 0:  # the server refuses to run as root
            for path in files:
                shutil.chown(path, "postgres", "postgres")
        made = subprocess.run(
            [*_as_postgres(), _program("initdb"), "-D", "data", "-U", USER, *INITDB, f"--pwfile={secret}"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=COMMAND_S,
            check=False,
        )
        assert made.returncode == 0, made.stdout + made.stderr

    @property
    def url(self) -> str:
        return f"jdbc:postgresql://127.0.0.1:{self.port}/{DATABASE}"

    def sql(self, text: str) -> str:
        """The output of statements, with `|` between fields. AssertionError, with the message of the server, if they
        fail.
        """
        done = self._psql(text)
        assert done.returncode == 0, done.stderr
        return done.stdout.rstrip("\n")

    def rows(self, table: str) -> list[dict[str, Any]]:
        """All rows of a table, as JSON."""
        text = self.sql(f"SELECT coalesce(json_agg(whole_row), '[]') FROM {table} whole_row")
        decoded: list[dict[str, Any]] = json.loads(text)
        return decoded

    @contextmanager
    def blocking(self, table: str, client: str) -> Iterator[subprocess.Popen[str]]:
        """A client with this name that keeps a lock on a table, in a statement that does not end."""
        client_process = self._client(f"BEGIN; LOCK TABLE {table}; SELECT pg_sleep(600)", client)
        try:
            wait_until(lambda: self.sql(_LOCKED.format(table=table)) == "t", f"a lock on {table}", COMMAND_S)
            yield client_process
        finally:
            client_process.kill()
            client_process.communicate()

    def stop(self) -> int | None:
        """End the server without waiting for its clients, who keep their connections."""
        if self.running:
            os.kill(self.pid, signal.SIGINT)
            with suppress(AssertionError):
                self.wait(5)
        return self.kill()

    def _answers(self) -> bool:
        return self._psql("SELECT 1").returncode == 0

    def _psql(self, text: str) -> subprocess.CompletedProcess[str]:
        with self._client(text) as client:
            try:
                output, errors = client.communicate(timeout=COMMAND_S)
            finally:
                client.kill()
        return subprocess.CompletedProcess(client.args, client.returncode, output, errors)

    def _client(self, text: str, name: str = "psql") -> subprocess.Popen[str]:
        """A process of psql that runs statements, as one transaction."""
        server = f"postgresql://{USER}@127.0.0.1:{self.port}/{DATABASE}"
        return subprocess.Popen(
            ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", server, "-c", text],
            env={**os.environ, "PGPASSWORD": PASSWORD, "PGAPPNAME": name},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def _as_postgres() -> list[str]:
    """The prefix of a command that runs it as the user `postgres` of Debian's package, if this user is root."""
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.getuid() == 0 else []


def _program(name: str) -> str:
    folders = [str(path) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    executable = shutil.which(name, path=":".join([*folders, os.environ.get("PATH", "")]))
    if executable is None:
        raise FileNotFoundError(f"{name} is missing: `make test-servers` says how to install it")
    return executable
