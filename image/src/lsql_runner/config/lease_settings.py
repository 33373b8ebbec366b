"""The settings of a standby: the Lease that decides which of several processes runs the program."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from lsql_runner.config.value_types import LeaseName, WorkerHost
from lsql_runner.errors import DetailTable, LsqlError
from lsql_runner.lease.connection import SERVICE_ACCOUNT, LeaseConnection

EXPECTED_LEASE = DetailTable(
    {
        "ALONE": "no value while {other} is set",
        "RENEWAL": "less than half of the {lease} seconds of LSQL_LEASE_SECONDS",
    }
)


class LeaseSettings(BaseModel):
    """The settings of all processes of a processor with a standby. Without LSQL_LEASE the others have no effect."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    lease_name: LeaseName = Field(
        "",
        alias="LSQL_LEASE",
        description="Lease of Kubernetes, `namespace/name`, which decides which one of several processes with the same "
        "state runs the program. The others stand by. Empty: there is one process.",
    )
    lease_seconds: int = Field(
        3,
        alias="LSQL_LEASE_SECONDS",
        ge=2,
        le=300,
        description="Seconds without a renewal of the Lease after which a standby runs the program.",
    )
    lease_renew_seconds: float = Field(
        1.0,
        alias="LSQL_LEASE_RENEW_SECONDS",
        ge=0.1,
        le=100,
        description="Seconds between two renewals; less than half of LSQL_LEASE_SECONDS.",
    )
    lease_host: WorkerHost = Field(
        "",
        alias="LSQL_LEASE_HOST",
        description="Host name or address by which the other processes reach the REST API of this one: they forward "
        "requests to the one that runs the program. Empty: the address of the name of this machine.",
    )
    lease_server: str = Field(
        "",
        alias="LSQL_LEASE_SERVER",
        description="URL of the API server of Kubernetes; empty for the pod's own.",
    )
    lease_credentials: Path = Field(
        SERVICE_ACCOUNT,
        alias="LSQL_LEASE_CREDENTIALS",
        description="Folder with the credentials for the API server: `token` and `ca.crt`.",
    )

    @property
    def lease(self) -> LeaseConnection | None:
        """The Lease that decides which process runs the program; None if there is one process.

        Raises:
            LsqlError: ENV_INVALID.
        """
        if not self.lease_name:
            return None
        if 2 * self.lease_renew_seconds >= self.lease_seconds:
            expected = EXPECTED_LEASE("RENEWAL", lease=self.lease_seconds)
            shown = f"{self.lease_renew_seconds:g}"
            raise LsqlError("ENV_INVALID", name="LSQL_LEASE_RENEW_SECONDS", value=shown, expected=expected)
        namespace, _, name = self.lease_name.partition("/")
        return LeaseConnection(
            namespace=namespace, name=name, server=self.lease_server, credentials=self.lease_credentials
        )
