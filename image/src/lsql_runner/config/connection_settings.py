"""The settings of the connections to the brokers and to the schema registry."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from lsql_runner.config.addresses import broker_addresses
from lsql_runner.formats.table import REGISTRY_KINDS
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.registry_connection import RegistryConnection, RegistryTls, registry_urls


class ConnectionSettings(BaseModel):
    """Addresses and credentials of the brokers and of the schema registry."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bootstrap_servers: str = Field(
        "",
        alias="SQL_BOOTSTRAP_SERVERS",
        description="Brokers: `[PROTO://]host:port`, separated by commas; PROTO is a security protocol. IPv6 addresses "
        "are in brackets: `[fd00::1]:9092`.",
    )
    security_protocol: Literal["", "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        "",
        alias="SECURITY_PROTOCOL",
        description="Security protocol of the brokers; SASL_* and SSL_* variables become Kafka client keys.",
    )
    schema_registry_url: str = Field(
        "",
        alias="SQL_SCHEMA_REGISTRY_URL",
        description=(
            "Schema registry: `http[s]://host[:port][/path]`, several addresses separated by commas. "
            f"For {', '.join(REGISTRY_KINDS)}."
        ),
    )
    registry_user: str = Field("", alias="LSQL_SCHEMA_REGISTRY_USER", description="User name for the schema registry.")
    registry_password: str = Field(
        "", alias="LSQL_SCHEMA_REGISTRY_PASSWORD", description="Password for the schema registry."
    )
    registry_ca: str = Field(
        "",
        alias="LSQL_SCHEMA_REGISTRY_CA",
        description="CA certificates with which the registry's certificate is verified, as PEM; empty for those in the "
        "system.",
    )
    registry_certificate: str = Field(
        "",
        alias="LSQL_SCHEMA_REGISTRY_CERTIFICATE",
        description="Client certificate for the registry, with its chain, as PEM.",
    )
    registry_key: str = Field(
        "", alias="LSQL_SCHEMA_REGISTRY_KEY", description="Private key of the client certificate, as PEM."
    )
    registry_key_password: str = Field(
        "", alias="LSQL_SCHEMA_REGISTRY_KEY_PASSWORD", description="Password of the private key, if it has one."
    )
    registry_provider: str = Field(
        "", alias="SQL_REGISTRY_PROVIDER", description="Kind of schema registry. Not used in this version."
    )
    client_keys: tuple[tuple[str, str], ...] = Field((), description="SASL_* and SSL_* as Kafka client keys.")

    @property
    def connection(self) -> KafkaConnection:
        """The brokers, with the security protocol from the addresses or SECURITY_PROTOCOL.

        Raises:
            LsqlError: ENV_MISSING, ENV_INVALID.
        """
        addresses, protocol = broker_addresses(self.bootstrap_servers, self.security_protocol)
        security = {"security.protocol": protocol} | dict(self.client_keys)
        return KafkaConnection(addresses, tuple(security.items()))

    @property
    def registry(self) -> RegistryConnection | None:
        """The schema registry; None if there is no address.

        Raises:
            LsqlError: ENV_INVALID.
        """
        if not self.schema_registry_url.strip():
            return None
        tls = RegistryTls(self.registry_ca, self.registry_certificate, self.registry_key, self.registry_key_password)
        urls = registry_urls(self.schema_registry_url)
        return RegistryConnection(urls, self.registry_user, self.registry_password, tls)
