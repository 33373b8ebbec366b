"""Who may stop and start the processor, and who did it."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
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
    """The access to POST /stop and POST /start.

    Attributes:
        actions: `none` refuses them, `token` requires the token, `open` allows everybody.
        token: of the mode `token`.
        trusted_proxies: the networks whose X-Forwarded-User is believed.
    """

    actions: ActionsMode
    token: str = field(default="", repr=False)
    trusted_proxies: tuple[Network, ...] = ()

    def check(self, incoming: Request, action: str) -> None:
        """Allow the request, or raise.

        Raises:
            LsqlError: ACTIONS_DISABLED, API_TOKEN_MISSING, API_TOKEN_INVALID.
        """
        if self.actions == "open":
            return
        if self.actions == "none":
            raise LsqlError("ACTIONS_DISABLED", action=action)
        scheme, _, token = incoming.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise LsqlError("API_TOKEN_MISSING", action=action)
        if not hmac.compare_digest(token.strip().encode(errors="surrogateescape"), self.token.encode()):
            raise LsqlError("API_TOKEN_INVALID", action=action)

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
    return ApiAccess(settings.actions_mode, settings.api_token, networks(settings.api_trusted_proxies))
