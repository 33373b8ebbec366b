"""The variables of the environment that are the runner's, sorted by kind, with values from files read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from lsql_runner.config.sink_settings import SINK_VARIABLE
from lsql_runner.errors import LsqlError, file_error

_FILE = "_FILE"
"""Behind a name: its value is the path of a file that holds the value, for secrets."""
_CLIENT_PREFIXES = ("SASL_", "SSL_")
_OPENSSL = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""Variables of OpenSSL itself that many images set; they are no Kafka client keys."""
_RUNNER_PREFIXES = ("SQL_", "LSQL_")


@dataclass(slots=True)
class Variables:
    """Values by name, each in the kind that its name belongs to."""

    settings: dict[str, str] = field(default_factory=dict)
    """Variables with a name of the settings table."""
    client_keys: dict[str, str] = field(default_factory=dict)
    """SASL_* and SSL_*, by the key of Kafka's client."""
    sinks: dict[str, str] = field(default_factory=dict)
    """LSQL_SINK_*, by name without `_FILE`."""
    files: list[Path] = field(default_factory=list)
    """The files that values were read from."""


def sort_variables(environment: Mapping[str, str], names: Collection[str]) -> Variables:
    """Sort the runner's variables, and leave out those of others.

    Args:
        environment: all variables.
        names: the names of the settings table.

    Raises:
        LsqlError: ENV_UNKNOWN for a name like the runner's that it does not know; FILE_UNREADABLE, FILE_NOT_UTF8.
    """
    found = Variables()
    for variable, given in environment.items():
        name, value = variable, given
        if name in _OPENSSL:
            continue
        base = name.removesuffix(_FILE)
        if base != name and name not in names and _kind(found, base, names) is not None:
            found.files.append(Path(given))
            # A program that is not UTF-8 is read as it comes in a variable: the parser names the wrong byte.
            name, value = base, _read(given, "surrogateescape" if base == "SQL" else "strict")
        kind = _kind(found, name, names)
        if kind is not None:
            kind[name.lower().replace("_", ".") if kind is found.client_keys else name] = value
        elif name.startswith(_RUNNER_PREFIXES):
            near = get_close_matches(name, names, n=4, cutoff=0.5)
            raise LsqlError("ENV_UNKNOWN", name=name, near=", ".join(near) or ", ".join(names))
    return found


def _kind(found: Variables, name: str, names: Collection[str]) -> dict[str, str] | None:
    """Where a variable's value belongs; None where the name is not the runner's."""
    if name in names:
        return found.settings
    if name.startswith(_CLIENT_PREFIXES):
        return found.client_keys
    return found.sinks if SINK_VARIABLE.fullmatch(name) else None


def _read(path: str, errors: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors=errors).rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise file_error(path, error) from None
