"""The user and the groups of a request, which a reverse proxy sends in headers, and which names a user may have.

Whether the request came from the proxy is checked by the caller.
"""

from __future__ import annotations

import re

from flask import Request

from lsql_runner.errors import LsqlError

USER_HEADER = "X-Forwarded-User"
USER_CHARS = 128
"""The name of a user has at most this many characters."""
REPEATED_HEADERS = "lsql.repeated_headers"
"""The key of the environment of a request with the names, in lower case, of the headers that it has more than once."""


def is_user_name(text: str) -> bool:
    """Whether a text can be the name of a user.

    A name has no comma: servers join the values of a repeated header with commas, and one of them may come from the
    client, if the proxy did not remove it.
    """
    return 0 < len(text) <= USER_CHARS and "," not in text and text.isprintable()


def forwarded_user(incoming: Request, header: str = USER_HEADER) -> str | None:
    """The user that the header names; None if it names none or several, or what cannot be a name."""
    user = _value(incoming, header)
    return user if is_user_name(user) else None


def forwarded_groups(incoming: Request, header: str) -> frozenset[str]:
    """The groups in the header, which commas or `|` separate.

    Raises:
        LsqlError: PROXY_HEADER_REPEATED: one of the values may come from the client.
    """
    if header.lower() in incoming.environ.get(REPEATED_HEADERS, ()):
        raise LsqlError("PROXY_HEADER_REPEATED", header=header)
    return frozenset(group.strip() for group in re.split(r"[,|]", _value(incoming, header))) - {""}


def user_value(user: str) -> bytes:
    """The value of a header that `forwarded_user` reads as this user."""
    return user.encode()


def _value(incoming: Request, header: str) -> str:
    """A header's value; proxies send UTF-8, which WSGI decodes as Latin-1."""
    value = incoming.headers.get(header, "").strip()
    return value.encode("latin-1", "replace").decode("utf-8", "replace")
