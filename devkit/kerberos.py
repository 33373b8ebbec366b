"""A real Kerberos realm for tests: MIT's KDC with its own database, principals and keytabs."""

import os
import shutil
import socket
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

from ci.tools.ports import free_port
from devkit.broker import Listener
from devkit.process import Process, accepts_connections

REALM = "LSQL.TEST"
SERVICE = "kafka"
SYSTEM_PATH = "/usr/local/sbin:/usr/sbin:/sbin"
COMMAND_S = 30
ENCRYPTION = "aes256-cts-hmac-sha1-96:normal aes128-cts-hmac-sha1-96:normal"

KRB5_CONF = """\
[libdefaults]
default_realm = {realm}
dns_lookup_kdc = false
dns_lookup_realm = false
dns_canonicalize_hostname = false
rdns = false
udp_preference_limit = 1
[realms]
{realm} = {{
  kdc = 127.0.0.1:{port}
}}
"""
KDC_CONF = """\
[kdcdefaults]
kdc_listen = 127.0.0.1:{port}
kdc_tcp_listen = 127.0.0.1:{port}
[realms]
{realm} = {{
  database_name = {folder}/principals
  key_stash_file = {folder}/stash
  acl_file = {folder}/acl
  supported_enctypes = {encryption}
}}
[logging]
default = STDERR
"""


class Kerberos:
    """A KDC on a random port, with the principal of the brokers. All its files are in a temporary folder.
    With `preauthentication` the principals must authenticate before they get a ticket.

    `conf` is the krb5.conf of the realm; Java reads it from `java_option`, not from the environment.
    """

    def __init__(self, preauthentication: bool = False) -> None:
        port = free_port()
        self._flags = ["+requires_preauth"] if preauthentication else []
        self._process = Process(
            [_program("krb5kdc"), "-n"],
            name="kdc",
            probe=lambda: accepts_connections(port),
            env={"KRB5_CONFIG": "krb5.conf", "KRB5_KDC_PROFILE": "kdc.conf"},
        )
        folder = self._process.folder
        values = {"realm": REALM, "port": port, "folder": folder, "encryption": ENCRYPTION}
        self.conf = folder / "krb5.conf"
        self.conf.write_text(KRB5_CONF.format(**values))
        (folder / "kdc.conf").write_text(KDC_CONF.format(**values))
        self._run("kdb5_util", "create", "-s", "-r", REALM, "-P", "of the test")
        # Java's client uses the name that the address resolves to, whatever name it was given.
        self._broker = f"{SERVICE}/{socket.getnameinfo(('127.0.0.1', 0), 0)[0]}"
        self._broker_keytab = self.keytab(self._broker)

    @property
    def java_option(self) -> str:
        """The option with which a JVM uses this realm."""
        return f"-Djava.security.krb5.conf={self.conf}"

    def keytab(self, name: str) -> Path:
        """Create a principal, or give an existing one new keys. Returns a keytab with its current keys."""
        if name not in self._query("listprincs"):
            self._query("addprinc", "-randkey", *self._flags, name)
        path = self._process.folder / f"{name.replace('/', '.')}-{len(list(self._process.folder.iterdir()))}.keytab"
        self._query("ktadd", "-k", str(path), name)
        return path

    def listener(self) -> Listener:
        """A listener of a broker for the principals of the realm. The JVM of the broker needs `java_option`."""
        login = (
            'com.sun.security.auth.module.Krb5LoginModule required useKeyTab="true" storeKey="true" '
            f'keyTab="{self._broker_keytab}" principal="{self._broker}@{REALM}";'
        )
        settings = {"gssapi.sasl.jaas.config": login, "sasl.kerberos.service.name": SERVICE}
        return Listener("SASL_PLAINTEXT", ("GSSAPI",), settings)

    def stop(self) -> None:
        """End the KDC. Principals and keytabs exist until the object is collected."""
        self._process.stop()

    def __enter__(self) -> Self:
        self._process.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _query(self, *words: str) -> str:
        return self._run("kadmin.local", "-r", REALM, "-q", " ".join(words))

    def _run(self, program: str, *arguments: str) -> str:
        """The output of a Kerberos program. AssertionError, with all its output, if it fails."""
        folder = self._process.folder
        result = subprocess.run(
            [_program(program), *arguments],
            cwd=folder,
            env={**os.environ, "KRB5_CONFIG": str(self.conf), "KRB5_KDC_PROFILE": str(folder / "kdc.conf")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_S,
            check=False,
        )
        # kadmin.local ends with 0 even if a query fails; the error is on standard error.
        if result.returncode or "while" in result.stderr:
            raise AssertionError(f"{program} {' '.join(arguments)}: {result.stdout}{result.stderr}")
        return result.stdout


def _program(name: str) -> str:
    path = shutil.which(name, path=f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}")
    if path is None:
        raise FileNotFoundError(f"{name} is missing: `make test-servers` says how to install it")
    return path
