"""Host names in settings: those under which clients may send requests."""

from __future__ import annotations

import re

from lsql_runner.errors import DetailError, DetailTable

_LABEL = "[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?"
_PATTERN = re.compile(rf"\*|(\*\.)?{_LABEL}(\.{_LABEL})*\.?")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?P<name>[^/?#:]*)|(?P<host>[^/?#:]+)[/?#]")
_PORT = re.compile(r"(?P<name>[^:]+):\d*")
_EXPECTED = DetailTable(
    {
        "NAME": "host names, such as processor.example.com or *.example.com",
        "NAME_NOT_URL": "a host name without scheme and path, so {name} instead of {found}",
        "NAME_NOT_PORT": "a host name without a port, so {name} instead of {found}",
    }
)


def host_pattern(text: str) -> str:
    """A host name in lower case; `*.example.com` for all names below example.com; `*` for every name.

    Raises:
        DetailError: it is not a host name.
    """
    pattern = text.strip()
    if _PATTERN.fullmatch(pattern):
        return pattern.lower().removesuffix(".")
    if match := _URL.match(pattern):
        raise DetailError(_EXPECTED("NAME_NOT_URL", name=match["name"] or match["host"] or "a name", found=pattern))
    if match := _PORT.fullmatch(pattern):
        raise DetailError(_EXPECTED("NAME_NOT_PORT", name=match["name"], found=pattern))
    raise DetailError(_EXPECTED("NAME"))


def host_patterns(text: str) -> tuple[str, ...]:
    """The host names in a text, which commas separate.

    Raises:
        DetailError: one of them is not a host name.
    """
    return tuple(host_pattern(word) for word in text.split(",") if word.strip())
