"""A real Redis for tests: a server on a random port, in a temporary folder."""

import os
import subprocess

from ci.tools.ports import free_port
from devkit.certificates import Certificate
from devkit.process import Process, accepts_connections

PASSWORD = "of-the-test"
COMMAND_S = 30


class Redis(Process):
    """A server that needs a password and stores nothing on the disk: after `stop` and `start` it is empty.

    With a certificate it has a second port, `tls_port`, for connections with TLS.
    """

    def __init__(self, certificate: Certificate | None = None) -> None:
        self.port = free_port()
        self.tls_port = free_port()
        tls = ["--tls-port", str(self.tls_port), "--tls-cert-file", "server.crt", "--tls-key-file", "server.key"]
        super().__init__(
            [
                *("redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""),
                *("--requirepass", PASSWORD),
                *([*tls, "--tls-auth-clients", "no"] if certificate else []),
            ],
            name="redis",
            probe=lambda: accepts_connections(self.port) and self.command("PING") == "PONG",
        )
        if certificate is not None:
            (self.folder / "server.crt").write_text(certificate.chain)
            (self.folder / "server.key").write_text(certificate.key)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def command(self, *words: str) -> str:
        """The response to a command, a line for each element."""
        done = subprocess.run(
            ["redis-cli", "-p", str(self.port), *words],
            env={**os.environ, "REDISCLI_AUTH": PASSWORD},
            capture_output=True,
            text=True,
            timeout=COMMAND_S,
            check=True,
        )
        return done.stdout.rstrip("\n")

    def all_keys(self) -> list[str]:
        """All keys, sorted."""
        return sorted(self.command("KEYS", "*").splitlines())
