"""Who may stop and start the processor, and who did it."""

from __future__ import annotations

import hmac
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal

from flask import Request

from lsql_runner.config.networks import Network, is_in, networks
from lsql_runner.config.settings import Settings
from lsql_runner.errors import LsqlError
from lsql_runner.events.audit import UNKNOWN
from lsql_runner.web.forwarded import forwarded_user

FORWARDED_USER = "lsql.forwarded_user"
"""The key of the environment of a request with its sender, if a standby has forwarded it."""

ActionsMode = Literal["none", "token", "open"]


@dataclass(frozen=True, slots=True)
class ApiAccess:
    """The access to POST /stop and POST /start, and to the rows of the state.

    Attributes:
        actions: `none` refuses them, `token` requires the token, `open` allows everybody.
        token: of the mode `token`.
        trusted_proxies: the networks whose X-Forwarded-User is believed.
        queries: as `actions`, for the rows of the state.
        read_token: of the mode `token` of `queries`.
        queries_per_second: the most requests for rows.
    """

    actions: ActionsMode
    token: str = field(default="", repr=False)
    trusted_proxies: tuple[Network, ...] = ()
    _: KW_ONLY
    queries: ActionsMode = "none"
    read_token: str = field(default="", repr=False)
    queries_per_second: int = 1_000

    def check(self, incoming: Request, action: str) -> None:
        """Allow a request to change the processor, or raise.

        Raises:
            LsqlError: ACTIONS_DISABLED, API_TOKEN_MISSING, API_TOKEN_INVALID.
        """
        if self.actions == "none":
            raise LsqlError("ACTIONS_DISABLED", action=action)
        if self.actions == "token":
            _check_token(incoming, self.token, action, "LSQL_API_TOKEN")

    def check_query(self, incoming: Request) -> None:
        """Allow a request for rows of the state, or raise.

        Raises:
            LsqlError: QUERIES_DISABLED, API_TOKEN_MISSING, API_TOKEN_INVALID.
        """
        if self.queries == "none":
            raise LsqlError("QUERIES_DISABLED")
        if self.queries == "token":
            _check_token(incoming, self.read_token, "read the state", "LSQL_API_READ_TOKEN")

    def requester(self, incoming: Request) -> str:
        """The sender of a request, for the audit log: the user that a trusted proxy names, else the address.

        If a standby has forwarded the request, it is the sender that the standby names.
        """
        address = incoming.environ.get(FORWARDED_USER) or incoming.remote_addr or UNKNOWN
        return (is_in(self.trusted_proxies, address) and forwarded_user(incoming)) or address


def access_of(settings: Settings) -> ApiAccess:
    """The access that the settings define.

    Raises:
        LsqlError: ENV_MISSING.
    """
    return ApiAccess(
        actions=settings.actions_mode,
        token=settings.api_token,
        trusted_proxies=networks(settings.api_trusted_proxies),
        queries=settings.queries_mode,
        read_token=settings.api_read_token,
        queries_per_second=settings.api_queries_per_second,
    )


def _check_token(incoming: Request, expected: str, action: str, setting: str) -> None:
    scheme, _, token = incoming.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise LsqlError("API_TOKEN_MISSING", action=action)
    if not hmac.compare_digest(token.strip().encode(errors="surrogateescape"), expected.encode()):
        raise LsqlError("API_TOKEN_INVALID", action=action, setting=setting)
