"""The types of settings whose values are checked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from lsql_runner.bind.topic_policies import patterns
from lsql_runner.config.host_names import host_patterns
from lsql_runner.config.networks import bind_address, networks
from lsql_runner.config.quantity import mebibytes
from lsql_runner.config.state_store import state_uri
from lsql_runner.container.budget import SMALLEST_HEAP_MIB
from lsql_runner.errors import DetailError, DetailTable

TOKEN_CHARS = 16
"""A token has at least this many characters."""
SECRET_CHARS = 16
"""The secret of workers has at least this many characters."""

APP_ID = "[A-Za-z0-9][A-Za-z0-9._-]{0,248}"
"""The pattern of application ids."""
_HOST = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])\Z")
_TOKEN = re.compile(r"[!-~]+\Z")
_LEASE = re.compile(r"[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9.-]*\Z")
_EXPECTED = DetailTable(
    {
        "APP_ID": "letters, digits, `.`, `_` and `-`, starting with a letter or digit",
        "HEAP": "0, or at least {least}",
        "HOST": "a host name, an IPv4 address, or an IPv6 address in brackets",
        "LEASE": "`namespace/name`",
        "MEMORY": "an amount of memory, such as 768Mi",
        "SECRET": "at least {least} characters",
        "TOKEN": "at least {least} characters of ASCII without blanks",
    }
)


def _app_id(value: str) -> str:
    if not re.fullmatch(APP_ID, value):
        raise DetailError(_EXPECTED("APP_ID"))
    return value


def _heap(value: int) -> int:
    if value != 0 and value < SMALLEST_HEAP_MIB:
        raise DetailError(_EXPECTED("HEAP", least=SMALLEST_HEAP_MIB))
    return value


def _memory(value: str) -> str:
    if value and mebibytes(value) is None:
        raise DetailError(_EXPECTED("MEMORY"))
    return value


def _networks(value: str) -> str:
    networks(value)
    return value


def _hosts(value: str) -> str:
    host_patterns(value)
    return value


def _token(value: str) -> str:
    if value and not (_TOKEN.match(value) and len(value) >= TOKEN_CHARS):
        raise DetailError(_EXPECTED("TOKEN", least=TOKEN_CHARS))
    return value


def _secret(value: str) -> str:
    if value and len(value) < SECRET_CHARS:
        raise DetailError(_EXPECTED("SECRET", least=SECRET_CHARS))
    return value


def _worker_host(value: str) -> str:
    if value and not _HOST.match(value):
        raise DetailError(_EXPECTED("HOST"))
    return value


def _lease(value: str) -> str:
    if value and not _LEASE.match(value):
        raise DetailError(_EXPECTED("LEASE"))
    return value


def _patterns(value: str) -> str:
    patterns(value)
    return value


AppId = Annotated[str, AfterValidator(_app_id)]
BindAddress = Annotated[str, AfterValidator(bind_address)]
HeapMib = Annotated[int, AfterValidator(_heap)]
Hosts = Annotated[str, AfterValidator(_hosts)]
LeaseName = Annotated[str, AfterValidator(_lease)]
Memory = Annotated[str, AfterValidator(_memory)]
Networks = Annotated[str, AfterValidator(_networks)]
Secret = Annotated[str, AfterValidator(_secret)]
StateUri = Annotated[str, AfterValidator(state_uri)]
Token = Annotated[str, AfterValidator(_token)]
WorkerHost = Annotated[str, AfterValidator(_worker_host)]
OptionalPath = Annotated[Path | None, BeforeValidator(lambda text: text or None)]
"""None for an empty text."""
Patterns = Annotated[str, AfterValidator(_patterns)]
