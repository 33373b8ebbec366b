"""The configuration of the recovery job and the console: a YAML file that the chart writes. Unknown keys are errors."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal, Self

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from lsql_runner.config.host_names import host_pattern
from lsql_runner.config.log_levels import level_name
from lsql_runner.config.networks import Network, network
from lsql_runner.console.runners import Limits
from lsql_runner.errors import DetailError, DetailTable, LsqlError, file_error

Action = Literal["stop", "start", "scale", "delete"]
ACTIONS: tuple[Action, ...] = ("stop", "start", "scale", "delete")

_REASONS = DetailTable(
    {
        "PROXIES_MISSING": "auth.header.trustedProxies is empty, so anybody could send the headers",
        "ACTIONS_WITHOUT_AUTH": "actions require auth.mode to be header or token",
    }
)


class _Section(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid")


def _is_network(text: str) -> str:
    network(text)
    return text


class DocumentConfigMap(_Section):
    """The ConfigMap that contains the document."""

    namespace: str = Field(min_length=1)
    name: str = Field(default="lsql-processors", min_length=1)


class RunnerLimits(_Section):
    timeout_seconds: float = Field(default=2.0, gt=0, le=60)
    parallel: int = Field(default=32, ge=1, le=256)
    pass_seconds: float = Field(default=60.0, gt=0, le=3600)


class HeaderAuth(_Section):
    """A reverse proxy sends the user and the groups in headers."""

    user_header: str = "X-Forwarded-User"
    groups_header: str = "X-Forwarded-Groups"
    trusted_proxies: tuple[Annotated[str, AfterValidator(_is_network)], ...] = ()
    operator_groups: tuple[str, ...] = ()
    viewer_groups: tuple[str, ...] = Field(default=(), description="Empty: every user of the proxy.")

    @property
    def networks(self) -> tuple[Network, ...]:
        return tuple(map(network, self.trusted_proxies))


class TokenAuth(_Section):
    """Users have tokens; a file contains the hashes."""

    file: Path = Path("/etc/lsql-tokens/tokens")
    secure_cookie: bool = True


class Auth(_Section):
    mode: Literal["none", "header", "token"] = "none"
    header: HeaderAuth = HeaderAuth()
    token: TokenAuth = TokenAuth()

    @model_validator(mode="after")
    def _header_needs_proxies(self) -> Self:
        if self.mode == "header" and not self.header.trusted_proxies:
            raise DetailError(_REASONS("PROXIES_MISSING"))
        return self


class Actions(_Section):
    stop: bool = False
    start: bool = False
    scale: bool = False
    delete: bool = False

    def allows(self, action: Action) -> bool:
        return bool(getattr(self, action))


class Logs(_Section):
    enabled: bool = False
    lines: int = Field(default=200, ge=1, le=2000)


class ScaleLimits(_Section):
    maximum: int = Field(default=32, ge=1, le=999)


class ConsoleSettings(_Section):
    namespaces: tuple[str, ...] = Field(min_length=1)
    document: DocumentConfigMap
    deleted_keep_hours: float = Field(default=168.0, ge=0)
    runners: RunnerLimits = RunnerLimits()
    port: int = Field(default=8084, ge=1, le=65535)
    allowed_hosts: tuple[Annotated[str, AfterValidator(host_pattern)], ...] = ()
    poll_seconds: float = Field(default=10.0, ge=1, le=600)
    auth: Auth = Auth()
    actions: Actions = Actions()
    workers: ScaleLimits = ScaleLimits()
    logs: Logs = Logs()
    dry_run_events: bool = False
    log_level: Annotated[str, AfterValidator(level_name)] = "INFO"

    @model_validator(mode="after")
    def _actions_need_authentication(self) -> Self:
        if self.auth.mode == "none" and any(self.actions.allows(action) for action in ACTIONS):
            raise DetailError(_REASONS("ACTIONS_WITHOUT_AUTH"))
        return self

    @property
    def limits(self) -> Limits:
        configured = self.runners
        return Limits(configured.timeout_seconds, configured.parallel, configured.pass_seconds)

    @property
    def keep(self) -> timedelta:
        """For how long a deleted processor is listed."""
        return timedelta(hours=self.deleted_keep_hours)


def read_settings(path: Path) -> ConsoleSettings:
    """Read the file.

    Raises:
        LsqlError: FILE_UNREADABLE, FILE_NOT_UTF8, CONSOLE_CONFIG_INVALID.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise file_error(path, error) from None
    except yaml.YAMLError as error:
        raise _invalid(path, "$", " ".join(str(error).split())[:200]) from None
    try:
        return ConsoleSettings.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"]) or "$"
        cause, text = first.get("ctx", {}).get("error"), first["msg"].removeprefix("Value error, ")
        raise _invalid(path, place, cause.reason if isinstance(cause, DetailError) else text) from None


def _invalid(path: Path, place: str, why: str) -> LsqlError:
    return LsqlError("CONSOLE_CONFIG_INVALID", path=str(path), place=place, reason=why)
