"""The settings of workers: where they register with the processor, and their secret."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from lsql_runner.config.quantity import mebibytes
from lsql_runner.config.value_types import SECRET_CHARS, Memory, Secret, WorkerHost
from lsql_runner.errors import LsqlError
from lsql_runner.jvm.workers import Workers


class WorkerSettings(BaseModel):
    """The settings that a processor and its workers share."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    workers_secret: Secret = Field(
        "",
        alias="LSQL_WORKERS_SECRET",
        description=f"Secret of at least {SECRET_CHARS} characters with which workers (`lsql worker`) log in to the "
        "processor. If it is set, workers run the tasks, and all queries process batches.",
    )
    workers_host: WorkerHost = Field(
        "",
        alias="LSQL_WORKERS_HOST",
        description="Host name or address by which workers reach the processor, and, of the processor, the address "
        "on which it waits for them: an IP address, or for a name all addresses.",
    )
    workers_port: int = Field(
        7077,
        alias="LSQL_WORKERS_PORT",
        ge=1,
        le=65533,
        description="Port of the processor for workers; it uses the next two as well.",
    )
    workers_encryption: bool = Field(
        True,
        alias="LSQL_WORKERS_ENCRYPTION",
        description="Whether connections between processor and workers are encrypted: `true` or `false`, the same in "
        "all of them.",
    )
    workers_memory: Memory = Field(
        "",
        alias="LSQL_WORKERS_MEMORY",
        description="Memory limit of the container of the smallest worker, for example `768Mi`: it determines the "
        "sizes of state stores, and of the buffers of Kafka's clients. Empty: they are computed from the memory of the "
        "processor. A worker does not need it.",
    )
    workers_threads: int = Field(
        0,
        alias="LSQL_WORKERS_THREADS",
        ge=0,
        le=1024,
        description="Most tasks that a worker runs at the same time; the buffers of Kafka's clients are divided among "
        "them. 0: as many as the processor would run. A worker does not need it.",
    )

    @property
    def has_workers(self) -> bool:
        """Whether workers run the tasks. The secret may be missing: `lsql validate` runs before it exists."""
        return bool(self.workers_secret or self.workers_host)

    @property
    def workers_memory_mib(self) -> int | None:
        """The memory limit of the smallest worker in MiB; None without workers, and if it is not set."""
        return mebibytes(self.workers_memory) if self.has_workers and self.workers_memory else None

    @property
    def workers(self) -> Workers | None:
        """Where workers register that run the tasks; None if the tasks run in the processor.

        Raises:
            LsqlError: ENV_MISSING.
        """
        if not self.has_workers:
            return None
        self.check_workers()
        if not self.workers_secret:
            raise LsqlError("ENV_MISSING", name="LSQL_WORKERS_SECRET", example="the secret of the workers")
        return Workers(
            host=self.workers_host,
            port=self.workers_port,
            secret=self.workers_secret,
            encryption=self.workers_encryption,
        )

    def check_workers(self) -> None:
        """Check the settings of workers without the secret.

        Raises:
            LsqlError: ENV_MISSING.
        """
        if self.has_workers and not self.workers_host:
            raise LsqlError("ENV_MISSING", name="LSQL_WORKERS_HOST", example="processor.example.com")

    @property
    def of_worker(self) -> Workers:
        """The processor of a worker.

        Raises:
            LsqlError: ENV_MISSING.
        """
        if self.workers is None:
            raise LsqlError("ENV_MISSING", name="LSQL_WORKERS_SECRET", example="the secret of the processor")
        return self.workers
