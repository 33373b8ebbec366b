"""The settings of scaling: how many workers a processor should have.

The options of `lsql autoscale simulate` have the same names. The rate of a worker is learned: it is not a setting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field

from lsql_runner.config.worker_settings import WorkerSettings
from lsql_runner.errors import Detail, DetailTable, LsqlError

if TYPE_CHECKING:
    from lsql_runner.scaling.policy import Policy

_MOST = 1e12
_CATCH_UP_S = 60
_EXPECTED = DetailTable(
    {
        "ONE_TARGET": "no value beside LSQL_AUTOSCALING_CATCH_UP_S",
        "AT_MOST": "at most the value of LSQL_AUTOSCALING_MAX, {most}",
    }
)


@dataclass(frozen=True, slots=True)
class Autoscaling:
    """How many workers the processor should have.

    Attributes:
        policy: computes the number. The rate of a worker and the partitions of the topics are not known yet.
        dry_run: whether the number is only reported.
    """

    policy: Policy
    dry_run: bool


class ScalingSettings(WorkerSettings):
    """The settings of the scaling policy. Without LSQL_AUTOSCALING_ENABLED the others have no effect."""

    autoscaling_enabled: bool = Field(
        False,
        alias="LSQL_AUTOSCALING_ENABLED",
        description="Whether the processor computes how many workers it should have, from its lag and the rate of "
        "arriving records: `true` or `false`. It reports the number on /stream and as `lsql_workers_wanted`; in "
        "Kubernetes, a HorizontalPodAutoscaler or KEDA applies it.",
    )
    autoscaling_dry_run: bool = Field(
        False,
        alias="LSQL_AUTOSCALING_DRY_RUN",
        description="Whether nothing applies the number, so that the log says what would be done: `true` or `false`.",
    )
    autoscaling_catch_up_s: float = Field(
        0.0,
        alias="LSQL_AUTOSCALING_CATCH_UP_S",
        ge=0,
        le=_MOST,
        description="Target: seconds in which the workers process the lag beside arriving records. 0: "
        f"{_CATCH_UP_S}, unless LSQL_AUTOSCALING_LAG is set.",
    )
    autoscaling_lag: float = Field(
        0.0,
        alias="LSQL_AUTOSCALING_LAG",
        ge=0,
        le=_MOST,
        description="Target instead: records of lag for each worker. 0: the target is a time.",
    )
    autoscaling_min: int = Field(1, alias="LSQL_AUTOSCALING_MIN", ge=1, le=10_000, description="Fewest workers.")
    autoscaling_max: int = Field(
        8,
        alias="LSQL_AUTOSCALING_MAX",
        ge=1,
        le=10_000,
        description="Most workers. Never more than the partitions of the largest source topic occupy.",
    )
    autoscaling_tolerance: float = Field(
        0.1,
        alias="LSQL_AUTOSCALING_TOLERANCE",
        ge=0,
        le=0.9,
        description="Share of the workers by which their number may be wrong.",
    )
    autoscaling_up_window_s: float = Field(
        0.0,
        alias="LSQL_AUTOSCALING_UP_WINDOW_S",
        ge=0,
        le=3_600,
        description="The number grows to the smallest one of so many seconds.",
    )
    autoscaling_down_window_s: float = Field(
        300.0,
        alias="LSQL_AUTOSCALING_DOWN_WINDOW_S",
        ge=0,
        le=3_600,
        description="The number shrinks to the largest one of so many seconds.",
    )
    autoscaling_cooldown_s: float = Field(
        30.0,
        alias="LSQL_AUTOSCALING_COOLDOWN_S",
        ge=0,
        le=3_600,
        description="Seconds after a change without another one.",
    )

    @property
    def autoscaling(self) -> Autoscaling | None:
        """How many workers the processor should have; None if LSQL_AUTOSCALING_ENABLED is not set.

        Raises:
            LsqlError: ENV_MISSING without workers; ENV_INVALID for two targets, or a minimum above the maximum.
        """
        if not self.autoscaling_enabled:
            return None
        if self.workers is None:
            raise LsqlError("ENV_MISSING", name="LSQL_WORKERS_SECRET", example="the output of `openssl rand -hex 32`")
        if self.autoscaling_lag and self.autoscaling_catch_up_s:
            raise _invalid("LSQL_AUTOSCALING_LAG", f"{self.autoscaling_lag:g}", _EXPECTED("ONE_TARGET"))
        if self.autoscaling_min > self.autoscaling_max:
            expected = _EXPECTED("AT_MOST", most=self.autoscaling_max)
            raise _invalid("LSQL_AUTOSCALING_MIN", str(self.autoscaling_min), expected)
        return Autoscaling(self._policy(), self.autoscaling_dry_run)

    def _policy(self) -> Policy:
        from lsql_runner.scaling.policy import CatchUp, LagPerWorker, Policy  # only a processor that scales needs it
        from lsql_runner.scaling.window import Windows, WorkerLimits

        lag = self.autoscaling_lag
        return Policy(
            target=LagPerWorker(lag) if lag else CatchUp(self.autoscaling_catch_up_s or _CATCH_UP_S),
            limits=WorkerLimits(minimum=self.autoscaling_min, maximum=self.autoscaling_max),
            windows=Windows(up_s=self.autoscaling_up_window_s, down_s=self.autoscaling_down_window_s),
            cooldown_s=self.autoscaling_cooldown_s,
            tolerance=self.autoscaling_tolerance,
        )


def _invalid(name: str, value: str, expected: Detail) -> LsqlError:
    return LsqlError("ENV_INVALID", name=name, value=value, expected=expected)
