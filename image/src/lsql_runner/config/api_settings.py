"""The settings of the REST API."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from lsql_runner.config.networks import EVERY_ADDRESS
from lsql_runner.config.value_types import TOKEN_CHARS, BindAddress, Hosts, Networks, Token
from lsql_runner.errors import LsqlError


class ApiSettings(BaseModel):
    """Where the REST API listens, and who may use it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    port: int = Field(8083, alias="SQL_PORT", ge=1, le=65535, description="Port of the REST API.")
    bind_address: BindAddress = Field(
        EVERY_ADDRESS,
        alias="LSQL_BIND_ADDRESS",
        description="Address of this machine on which the REST API listens: `127.0.0.1` for this machine only, "
        "`0.0.0.0` for all IPv4 addresses, `::` for all IPv6 and IPv4 addresses (IPv4 only where IPv6 is off).",
    )
    allowed_hosts: Hosts = Field(
        "",
        alias="LSQL_ALLOWED_HOSTS",
        description="Host names in URLs of the REST API, separated by commas: `*.example.com` for all names below "
        "example.com, `*` for every name. Always allowed are IP addresses, `localhost`, the name of the machine and, "
        "in a pod, the names of its namespace in the DNS of the cluster, such as `name.namespace.svc`.",
    )
    api_actions: Literal["", "none", "token", "open"] = Field(
        "",
        alias="LSQL_API_ACTIONS",
        description="Who may send POST /stop and POST /start: `none` nobody, `token` who sends LSQL_API_TOKEN as "
        "`Authorization: Bearer <token>`, `open` everybody. Empty: `token` with LSQL_API_TOKEN, else `none`.",
    )
    api_token: Token = Field(
        "",
        alias="LSQL_API_TOKEN",
        description=f"The token for POST /stop and POST /start, of at least {TOKEN_CHARS} characters.",
    )
    api_queries: Literal["none", "token", "open"] = Field(
        "none",
        alias="LSQL_API_QUERIES",
        description="Who may read rows of the state with GET /metadata/<store>: `none` nobody, `token` who sends "
        "LSQL_API_READ_TOKEN as `Authorization: Bearer <token>`, `open` everybody.",
    )
    api_read_token: Token = Field(
        "",
        alias="LSQL_API_READ_TOKEN",
        description=f"The token for GET /metadata/<store>, of at least {TOKEN_CHARS} characters.",
    )
    api_queries_per_second: int = Field(
        1_000,
        alias="LSQL_API_QUERIES_PER_SECOND",
        ge=1,
        le=100_000,
        description="The most requests to GET /metadata/<store> in a second; others get the status 429.",
    )
    api_trusted_proxies: Networks = Field(
        "",
        alias="LSQL_API_TRUSTED_PROXIES",
        description="Addresses or networks of proxies, separated by commas. The audit log names the user in "
        "`X-Forwarded-User` if the request came from one of them, else the address of the client.",
    )

    @property
    def actions_mode(self) -> Literal["none", "token", "open"]:
        """LSQL_API_ACTIONS, with its default.

        Raises:
            LsqlError: ENV_MISSING.
        """
        if self.api_actions == "token" and not self.api_token:
            raise LsqlError("ENV_MISSING", name="LSQL_API_TOKEN", example="the output of `openssl rand -hex 32`")
        return self.api_actions or ("token" if self.api_token else "none")

    @property
    def queries_mode(self) -> Literal["none", "token", "open"]:
        """LSQL_API_QUERIES.

        Raises:
            LsqlError: ENV_MISSING.
        """
        if self.api_queries == "token" and not self.api_read_token:
            raise LsqlError("ENV_MISSING", name="LSQL_API_READ_TOKEN", example="the output of `openssl rand -hex 32`")
        return self.api_queries
