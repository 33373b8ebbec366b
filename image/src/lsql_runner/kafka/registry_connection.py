"""The connection to the schema registry: hosts, credentials, TLS."""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass, field
from tempfile import NamedTemporaryFile
from urllib.parse import urlsplit

from lsql_runner.errors import Detail, DetailError, DetailTable, LsqlError
from lsql_runner.kafka.certificates import certificates, trusting

_URL = "SQL_SCHEMA_REGISTRY_URL"
_PREFIX = "LSQL_SCHEMA_REGISTRY_"
EXPECTED = DetailTable(
    {
        "URLS": "http[s]://host[:port][/path], several separated by commas",
        "PRIVATE_KEY": "the private key of the certificate as PEM, and its password if it has one",
    }
)
_USER_INFO = re.compile(r"//[^/,]*@")


@dataclass(frozen=True, slots=True)
class RegistryTls:
    """Certificates and keys as PEM text; empty if not set."""

    ca: str = ""
    """The trusted authorities; if empty, the authorities of the system."""
    certificate: str = ""
    """The client certificate with its chain."""
    key: str = field(default="", repr=False)
    key_password: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class RegistryConnection:
    """`urls` are the hosts of one registry, in the order of use, without a slash at the end."""

    urls: tuple[str, ...]
    user: str = ""
    password: str = field(default="", repr=False)
    tls: RegistryTls = RegistryTls()

    def java(self) -> dict[str, str]:
        """Settings of the registry client in the JVM (com.lsqlrunner.registry.RegistrySettings)."""
        given = {
            "urls": ",".join(self.urls),
            "username": self.user,
            "password": self.password,
            "ca": self.tls.ca,
            "certificate": self.tls.certificate,
            "key": self.tls.key,
            "key_password": self.tls.key_password,
        }
        return {name: value for name, value in given.items() if value}


def registry_urls(text: str) -> tuple[str, ...]:
    """The addresses in SQL_SCHEMA_REGISTRY_URL.

    Raises:
        LsqlError: ENV_INVALID, URL_WITH_CREDENTIALS; no error contains a password.
    """
    if _USER_INFO.search(text):
        shown = _USER_INFO.sub("//***@", text)
        raise LsqlError(
            "URL_WITH_CREDENTIALS", name=_URL, url=shown, user=f"{_PREFIX}USER", password=f"{_PREFIX}PASSWORD"
        )
    urls = tuple(url.strip().rstrip("/") for url in text.split(","))
    if not all(map(_is_address, urls)):
        raise LsqlError("ENV_INVALID", name=_URL, value=text or "empty", expected=EXPECTED("URLS"))
    return urls


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    plain = not parts.query and not parts.fragment and not re.search(r"[\s\\]", url)
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and port != 0 and plain


def tls_context(connection: RegistryConnection) -> ssl.SSLContext:
    """The TLS context of the connections.

    Raises:
        LsqlError: ENV_INVALID, CERTIFICATE_INCOMPLETE.
    """
    if not any(url.startswith("https:") for url in connection.urls):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # unused, so without authorities, which take time to load
    tls = connection.tls
    try:
        context = trusting(certificates(tls.ca))
    except DetailError as error:
        raise _invalid("CA", error.reason) from None
    if bool(tls.certificate) != bool(tls.key):
        missing = "KEY" if tls.certificate else "CERTIFICATE"
        raise LsqlError("CERTIFICATE_INCOMPLETE", name=_PREFIX + missing)
    if tls.certificate:
        _load_client(context, tls)
    return context


def _load_client(context: ssl.SSLContext, tls: RegistryTls) -> None:
    # Python's ssl module reads them from files only. Only this user can read the file, which is deleted immediately.
    with NamedTemporaryFile("w", encoding="utf-8", prefix="lsql-registry-") as file:
        file.write(f"{tls.certificate}\n{tls.key}\n")
        file.flush()
        try:
            # Without a password function, OpenSSL would ask on the terminal.
            context.load_cert_chain(file.name, password=lambda: tls.key_password)
        except (ssl.SSLError, ValueError):
            raise _invalid("KEY", EXPECTED("PRIVATE_KEY")) from None


def _invalid(name: str, expected: Detail) -> LsqlError:
    return LsqlError("ENV_INVALID", name=_PREFIX + name, value="***", expected=expected)
