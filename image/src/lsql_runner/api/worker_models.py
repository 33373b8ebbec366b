"""The workers of a processor and their scaling, as parts of the response to GET /stream."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from lsql_runner.web.models import Model

Count = Annotated[int, Field(ge=0)]


class WorkerReport(Model):
    """A process that runs tasks of the processor."""

    address: str = Field(description="Host and port.")
    cores: Count = Field(description="Tasks that it runs at the same time.")
    leaving: bool = Field(description="Whether it ends when its tasks have ended.")


class ScalingReport(Model):
    """How many workers the processor should have, computed every 15 s."""

    wanted: Count | None = Field(
        description="null while it is not known: the processor does not run, its brokers do not respond, or the lag "
        "was measured for less than 30 s. Then the number of workers should stay."
    )
    current: Count = Field(description="Workers that run tasks now, without those that are leaving.")
    lag_records: Count | None = Field(description="The lag of the last decision.")
    arriving_per_second: float | None = Field(
        ge=0, description="Records that arrive, the mean since the decision before."
    )
    catch_up_seconds: float | None = Field(
        ge=0,
        description="Time in which the current workers process the lag beside arriving records; null also if they "
        "never do.",
    )
    dry_run: bool = Field(description="Whether nothing applies the number.")
    minimum: Count
    maximum: Count = Field(description="Never more than the partitions of the largest source topic occupy.")
    reason: str = Field(description="What the number follows from, or why it is not known.")
