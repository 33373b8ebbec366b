"""The runner's variables in the environment, by kind. Values in files are read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from lsql_runner.config.sink_settings import SINK_VARIABLE
from lsql_runner.config.state_store import OPTION
from lsql_runner.errors import LsqlError, file_error

_FILE = "_FILE"
"""Suffix of a variable whose value is the path of a file with the setting's value, for example a secret."""
_CLIENT_PREFIXES = ("SASL_", "SSL_")
_OPENSSL = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""Variables of OpenSSL that many images set; they are not Kafka client keys."""
_RUNNER_PREFIXES = ("SQL_", "LSQL_")


@dataclass(slots=True, kw_only=True)
class Variables:
    """Values by name, for each kind of variable."""

    settings: dict[str, str] = field(default_factory=dict)
    """Variables of the settings table."""
    client_keys: dict[str, str] = field(default_factory=dict)
    """SASL_* and SSL_*, by the key of Kafka's client."""
    sinks: dict[str, str] = field(default_factory=dict)
    """LSQL_SINK_*, by name without `_FILE`."""
    state_options: dict[str, str] = field(default_factory=dict)
    """LSQL_STATE_OPTION_*, by name."""
    files: list[Path] = field(default_factory=list)
    """The files from which values were read."""


def read_variables(environment: Mapping[str, str], names: Collection[str]) -> Variables:
    """The runner's variables by kind. Other variables are ignored.

    Args:
        environment: all variables.
        names: the names of the settings table.

    Raises:
        LsqlError: ENV_UNKNOWN for an unknown name with a prefix of the runner; FILE_UNREADABLE, FILE_NOT_UTF8.
    """
    variables = Variables()
    for variable, given in environment.items():
        name, value = variable, given
        if name in _OPENSSL:
            continue
        base = name.removesuffix(_FILE)
        if base != name and name not in names and _kind(variables, base, names) is not None:
            variables.files.append(Path(given))
            # A program that is not UTF-8 is read as Python reads variables: the parser reports the invalid byte.
            name, value = base, _read(given, "surrogateescape" if base == "SQL" else "strict")
        kind = _kind(variables, name, names)
        if kind is not None:
            kind[name.lower().replace("_", ".") if kind is variables.client_keys else name] = value
        elif name.startswith(_RUNNER_PREFIXES):
            near = get_close_matches(name, names, n=4, cutoff=0.5)
            raise LsqlError("ENV_UNKNOWN", name=name, near=", ".join(near) or ", ".join(names))
    return variables


def _kind(variables: Variables, name: str, names: Collection[str]) -> dict[str, str] | None:
    """The dictionary for a variable's value; None if the variable is not one of the runner's."""
    if name in names:
        return variables.settings
    if name.startswith(_CLIENT_PREFIXES):
        return variables.client_keys
    if name.startswith(OPTION) and name != OPTION:
        return variables.state_options
    return variables.sinks if SINK_VARIABLE.fullmatch(name) else None


def _read(path: str, errors: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors=errors).rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise file_error(path, error) from None
