"""Whom the console answers on the port of external metrics: the aggregator of the API server, and nobody else.

The API server publishes the authority and the names of its client certificate in a ConfigMap, for servers behind it.
"""

from __future__ import annotations

import json
import logging
import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsql_runner.console.cluster import Cluster, ClusterError, Missing
from lsql_runner.errors import DetailTable, LsqlError

LOG = logging.getLogger(__name__)
NAMESPACE = "kube-system"
CONFIG_MAP = "extension-apiserver-authentication"
REFRESH_S = 60.0
RETRY_S = 5.0
_REASONS = DetailTable(
    {
        "NO_AUTHORITY": "the ConfigMap has no requestheader-client-ca-file",
        "INVALID": "requestheader-client-ca-file or requestheader-allowed-names of the ConfigMap is invalid",
    }
)


@dataclass(frozen=True, slots=True)
class RequestHeader:
    """The client certificates of the aggregator."""

    authority: str
    """Certificates as PEM."""
    names: frozenset[str]
    """The allowed common names; empty allows all."""

    def allows(self, name: str) -> bool:
        """Whether a verified certificate with this common name belongs to the aggregator."""
        return not self.names or name in self.names


def read_request_header(content: Mapping[str, bytes]) -> RequestHeader:
    """The client certificates from the values of the ConfigMap.

    Raises:
        LsqlError: AGGREGATOR_UNKNOWN.
    """
    authority = content.get("requestheader-client-ca-file", b"").decode(errors="replace")
    if not authority.strip():
        raise LsqlError("AGGREGATOR_UNKNOWN", reason=_REASONS("NO_AUTHORITY"))
    try:
        names = json.loads(content.get("requestheader-allowed-names") or b"[]")
    except ValueError:
        names = None
    if not isinstance(names, list):
        raise LsqlError("AGGREGATOR_UNKNOWN", reason=_REASONS("INVALID"))
    return RequestHeader(authority, frozenset(map(str, names)))


@dataclass(frozen=True, slots=True)
class Trust:
    """How connections are accepted: the TLS context, and the certificates of the aggregator."""

    context: ssl.SSLContext
    aggregator: RequestHeader


def make_trust(aggregator: RequestHeader, certificate: Path, key: Path) -> Trust:
    """The trust for the server's certificate and key, in files with PEM.

    Raises:
        LsqlError: AGGREGATOR_UNKNOWN, FILE_UNREADABLE.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.verify_mode = ssl.CERT_REQUIRED
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_verify_locations(cadata=aggregator.authority)
    except (ssl.SSLError, ValueError):
        raise LsqlError("AGGREGATOR_UNKNOWN", reason=_REASONS("INVALID")) from None
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        reason = error.strerror or type(error).__name__
        raise LsqlError("FILE_UNREADABLE", path=str(certificate), reason=reason) from None
    return Trust(context, aggregator)


class AggregatorTrust:
    """Reads the ConfigMap and the server's certificate again every minute: both are rotated while the console runs.

    If one cannot be read, the last trust stays. Before the first success there is none, and nobody is answered.
    """

    def __init__(self, cluster: Cluster, certificate: Path, key: Path) -> None:
        self._cluster = cluster
        self._certificate = certificate
        self._key = key
        self._trust: Trust | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="aggregator-trust", daemon=True)

    def current(self) -> Trust | None:
        """The trust at the last success."""
        return self._trust

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._ended.set()

    def refresh(self) -> bool:
        """Read both once; returns whether that succeeded."""
        try:
            config_map = self._cluster.config_map(NAMESPACE, CONFIG_MAP)
            self._trust = make_trust(read_request_header(config_map.content), self._certificate, self._key)
        except (ClusterError, Missing) as error:
            return self._report_failure(LsqlError("AGGREGATOR_UNKNOWN", reason=str(error).rstrip(".")))
        except LsqlError as error:
            return self._report_failure(error)
        return True

    def _report_failure(self, error: LsqlError) -> bool:
        LOG.warning(
            "the client certificate of the API server cannot be verified",
            extra={"code": error.code, "error": error.message, "way_out": error.way_out},
        )
        return False

    def _run(self) -> None:
        while not self._ended.is_set():
            done = False
            try:
                done = self.refresh()
            except Exception as error:
                LOG.error("the certificates of the aggregator could not be read", exc_info=error)
            self._ended.wait(REFRESH_S if done else RETRY_S)


def common_name(certificate: Mapping[str, Any] | None) -> str:
    """The common name of a peer's certificate, as SSLSocket.getpeercert returns it; empty if it has none."""
    subject = (certificate or {}).get("subject", ())
    return next((value for part in subject for key, value in part if key == "commonName"), "")


TrustSource = Callable[[], Trust | None]
