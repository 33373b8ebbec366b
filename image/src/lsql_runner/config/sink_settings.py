"""Sinks in the environment: `LSQL_SINK_<NAME>_URL`, `_USER`, `_PASSWORD` and `_CA` for each sink."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lsql_runner.bind.sinks import SINK_KINDS, SinkKind
from lsql_runner.config.sink_connection import SinkConnection
from lsql_runner.errors import DetailError, DetailTable, LsqlError
from lsql_runner.kafka.certificates import certificates

SINK_VARIABLE = re.compile(r"LSQL_SINK_(?P<name>[A-Z][A-Z0-9_]*?)_(?P<suffix>URL|USER|PASSWORD|CA)(?:_FILE)?")
SINK_SUFFIXES = {
    "URL": "Address of the sink `<name>`, without credentials: "
    + ", ".join(f"`{kind.example}` ({kind.name})" for kind in SINK_KINDS.values())
    + ". `<NAME>` is the sink's name in capitals, with `_` for `-`.",
    "USER": "User name for the sink.",
    "PASSWORD": "Password of the user.",
    "CA": "CA certificates as PEM. The connection is encrypted, and the certificate and the host name of the server "
    "are verified: PostgreSQL with `sslmode=verify-full`; the URL of Redis must begin with `rediss://`.",
}
"""By suffix of a sink's variable: its description, for the reference page."""

_ADDRESS = {
    "postgresql": re.compile(r"jdbc:postgresql://[^/?#@\s]+/[^/?#\s]+(\?[^#\s]*)?"),
    "redis": re.compile(r"rediss?://([^/?#@\s:\[\]]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?(/\d{1,5})?"),
}
_EXPECTED = DetailTable(
    {
        "VERIFIED": "no {found} in the URL, because LSQL_SINK_{name}_CA sets sslmode=verify-full",
        "ENCRYPTED": "rediss:// instead of redis://, because LSQL_SINK_{name}_CA is set",
    }
)
_TLS_SETTINGS = ("ssl", "sslmode", "sslrootcert", "sslfactory", "sslfactoryarg", "sslhostnameverifier")
"""Parameters of PostgreSQL's driver that determine how a server is verified; in the URL they take precedence."""
_CREDENTIALS = re.compile(r"[?&](user|[^=&]*password)=|//[^/]*@", re.IGNORECASE)


def read_sinks(variables: Mapping[str, str]) -> tuple[SinkConnection, ...]:
    """The sinks in variables, ordered by name.

    Args:
        variables: LSQL_SINK_*, by name without `_FILE`.

    Raises:
        LsqlError: ENV_MISSING, ENV_INVALID, URL_WITH_CREDENTIALS. No message has a password.
    """
    by_sink: dict[str, dict[str, str]] = {}
    for variable, value in variables.items():
        match = SINK_VARIABLE.fullmatch(variable)
        assert match is not None
        by_sink.setdefault(match["name"], {})[match["suffix"]] = value
    return tuple(_sink(name, values) for name, values in sorted(by_sink.items()))


def _sink(name: str, values: Mapping[str, str]) -> SinkConnection:
    variable = f"LSQL_SINK_{name}_URL"
    url = values.get("URL", "").strip()
    examples = " or ".join(kind.example for kind in SINK_KINDS.values())
    if not url:
        raise LsqlError("ENV_MISSING", name=variable, example=examples)
    if _CREDENTIALS.search(url):
        user, password = f"LSQL_SINK_{name}_USER", f"LSQL_SINK_{name}_PASSWORD"
        raise LsqlError("URL_WITH_CREDENTIALS", name=variable, url="***", user=user, password=password)
    kind = _kind(url)
    if kind is None or not _ADDRESS[kind.name].fullmatch(url):
        raise LsqlError("ENV_INVALID", name=variable, value=url[:80], expected=examples)
    try:
        ca = certificates(values.get("CA", ""))
    except DetailError as error:
        raise LsqlError("ENV_INVALID", name=f"LSQL_SINK_{name}_CA", value="***", expected=error.reason) from None
    if ca:
        _check_tls(name, url)
    return SinkConnection(
        name=name.lower(),
        kind=kind.name,
        url=url,
        user=values.get("USER", ""),
        password=values.get("PASSWORD", ""),
        ca=ca,
    )


def _check_tls(name: str, url: str) -> None:
    """Refuse a URL with which the certificate of the server would not be verified.

    Raises:
        LsqlError: ENV_INVALID.
    """
    expected = None
    if url.startswith("redis:"):
        expected = _EXPECTED("ENCRYPTED", name=name)
    for setting in url.partition("?")[2].split("&"):
        if setting.partition("=")[0] in _TLS_SETTINGS and setting not in ("ssl=true", "sslmode=verify-full"):
            expected = _EXPECTED("VERIFIED", found=setting[:80], name=name)
    if expected is not None:
        raise LsqlError("ENV_INVALID", name=f"LSQL_SINK_{name}_URL", value=url[:80], expected=expected)


def _kind(url: str) -> SinkKind | None:
    return next((kind for kind in SINK_KINDS.values() if url.startswith(kind.schemes)), None)
