"""Authentication and roles: none, by headers of a reverse proxy, or by tokens."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Literal, Protocol

from flask import Request

from lsql_runner.config.networks import is_in
from lsql_runner.console.settings import Auth, HeaderAuth
from lsql_runner.errors import LsqlError
from lsql_runner.web.forwarded import forwarded_groups, forwarded_user, is_user_name

Role = Literal["viewer", "operator"]
COOKIE = "lsql-console"
SESSION_S = 12 * 3600
SESSIONS = 1000
"""At most this many sessions; a new one ends the oldest."""
_LINE = re.compile(r"(?P<name>\S+)\s+(?P<role>viewer|operator)\s+(?P<digest>[0-9a-f]{64})\Z")


@dataclass(frozen=True, slots=True)
class Caller:
    """The user of a request. A viewer may read; an operator may also act."""

    name: str
    role: Role


class Authenticator(Protocol):
    """Determines the user of a request."""

    def caller(self, incoming: Request) -> Caller:
        """The user of the request.

        Raises:
            LsqlError: AUTHENTICATION_REQUIRED, PROXY_UNTRUSTED, PROXY_USER_MISSING, PROXY_HEADER_REPEATED,
                TOKEN_INVALID, PERMISSION_DENIED.
        """


def open_authenticator(auth: Auth, clock: Callable[[], float] = time.monotonic) -> Authenticator:
    """The authenticator of the configuration.

    Raises:
        LsqlError: FILE_UNREADABLE, TOKEN_FILE_INVALID.
    """
    if auth.mode == "header":
        return HeaderAuthenticator(auth.header)
    if auth.mode == "token":
        return TokenAuthenticator(Tokens(auth.token.file), clock)
    return NoAuthentication()


class NoAuthentication:
    """No authentication: every caller is a viewer."""

    def caller(self, incoming: Request) -> Caller:
        return Caller("anonymous", "viewer")


class HeaderAuthenticator:
    """A reverse proxy sends the user in a header. Requests from other addresses are refused."""

    def __init__(self, settings: HeaderAuth) -> None:
        self._settings = settings
        self._networks = settings.networks

    def caller(self, incoming: Request) -> Caller:
        if not is_in(self._networks, incoming.remote_addr or ""):
            raise LsqlError("PROXY_UNTRUSTED")
        user = forwarded_user(incoming, self._settings.user_header)
        if user is None:
            raise LsqlError("PROXY_USER_MISSING")
        groups = forwarded_groups(incoming, self._settings.groups_header)
        if groups & set(self._settings.operator_groups):
            return Caller(user, "operator")
        if self._settings.viewer_groups and not groups & set(self._settings.viewer_groups):
            raise LsqlError("PERMISSION_DENIED", user=user, action="view", role="viewer")
        return Caller(user, "viewer")


class Tokens:
    """The token file: lines `name role sha256`, read again when the file changes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mark: tuple[int, int, int] | None = None
        self._known: dict[str, Caller] = {}
        self._lock = Lock()
        self.known()

    def known(self) -> Mapping[str, Caller]:
        """Callers by the hash of their token.

        Raises:
            LsqlError: FILE_UNREADABLE, TOKEN_FILE_INVALID.
        """
        with self._lock:
            try:
                seen = self._path.stat()
                mark = (seen.st_mtime_ns, seen.st_size, seen.st_ino)
                if mark != self._mark:
                    self._known = _read_tokens(self._path)
                    self._mark = mark
            except OSError as error:
                raise LsqlError(
                    "FILE_UNREADABLE", path=str(self._path), reason=error.strerror or type(error).__name__
                ) from None
            return self._known

    def find(self, digest: str) -> Caller | None:
        """The user whose token has this hash. Compares with every line in constant time."""
        match = None
        for known, caller in self.known().items():
            if hmac.compare_digest(known, digest):
                match = caller
        return match


class TokenAuthenticator:
    """Programs send a bearer token. The page logs in with a token and gets a session cookie."""

    def __init__(self, tokens: Tokens, clock: Callable[[], float]) -> None:
        self._tokens = tokens
        self._clock = clock
        self._sessions: dict[str, tuple[str, float]] = {}
        self._lock = Lock()

    def caller(self, incoming: Request) -> Caller:
        scheme, _, token = incoming.headers.get("Authorization", "").partition(" ")
        if scheme:
            known = self._tokens.find(digest_of(token.strip())) if scheme.lower() == "bearer" else None
            if known is None:
                raise LsqlError("TOKEN_INVALID")
            return known
        known = self._session_caller(incoming.cookies.get(COOKIE, ""))
        if known is None:
            raise LsqlError("AUTHENTICATION_REQUIRED")
        return known

    def log_in(self, token: str) -> tuple[str, Caller]:
        """Begin a session for the token's user; returns the value of the cookie, and the user.

        Raises:
            LsqlError: TOKEN_INVALID.
        """
        digest = digest_of(token)
        caller = self._tokens.find(digest)
        if caller is None:
            raise LsqlError("TOKEN_INVALID")
        session = secrets.token_urlsafe(32)
        with self._lock:
            now = self._clock()
            self._sessions = {key: known for key, known in self._sessions.items() if known[1] > now}
            while len(self._sessions) >= SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            self._sessions[digest_of(session)] = (digest, now + SESSION_S)
        return session, caller

    def log_out(self, session: str) -> None:
        with self._lock:
            self._sessions.pop(digest_of(session), None)

    def _session_caller(self, session: str) -> Caller | None:
        digest, until = self._sessions.get(digest_of(session), ("", 0.0))
        # Removing a token from the file ends its sessions.
        return self._tokens.find(digest) if until > self._clock() else None


def digest_of(token: str) -> str:
    """The hash of a token as the file has it. Tokens are long and random, so they need no salt."""
    return hashlib.sha256(token.encode(errors="surrogateescape")).hexdigest()


def _read_tokens(path: Path) -> dict[str, Caller]:
    known = {}
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.match(line.strip())
        if not match or not is_user_name(match["name"]):
            raise LsqlError("TOKEN_FILE_INVALID", path=str(path), line=number)
        known[match["digest"]] = Caller(match["name"], "operator" if match["role"] == "operator" else "viewer")
    return known
