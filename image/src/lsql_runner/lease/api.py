"""Reads and writes one Lease with two requests of the API of Kubernetes.

lightkube would cost 0.11 s of each start and 17 MiB, httpx2 0.06 s and 11 MiB.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import httpx2

from lsql_runner.errors import Detail, DetailTable, LsqlError
from lsql_runner.lease.connection import LeaseConnection
from lsql_runner.lease.ports import LeaseChangedError

REASONS = DetailTable(
    {
        "MISSING": "it does not exist",
        "REFUSED": "HTTP {status}: {message}",
        "UNREACHABLE": "no answer of {server}: {error}",
        "NO_TOKEN": "{path} cannot be read",
        "OTHER": "unexpected answer of {server}",
    }
)
"""Reasons of LEASE_UNAVAILABLE."""

_MESSAGE_CHARS = 300


class RestLeaseApi:
    """A LeaseApi over HTTP. The token is read for each request, because the kubelet renews it."""

    def __init__(self, connection: LeaseConnection) -> None:
        self._connection = connection
        self._server = connection.server.rstrip("/") or _own_server()
        path = f"/apis/coordination.k8s.io/v1/namespaces/{connection.namespace}/leases/{connection.name}"
        self._url = self._server + path
        self._client: httpx2.Client | None = None

    def read(self) -> dict[str, Any]:
        return self._request("GET", None)

    def write(self, document: Mapping[str, Any]) -> dict[str, Any]:
        return self._request("PUT", document)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    def _request(self, method: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self._token()}"} if self._is_encrypted else {}
        try:
            response = self._open_client().request(method, self._url, json=body, headers=headers)
            document = response.json()
        except (httpx2.HTTPError, OSError) as error:
            reason = str(error) or type(error).__name__
            raise self._unavailable(REASONS("UNREACHABLE", server=self._server, error=reason)) from None
        except ValueError:
            raise self._unavailable(REASONS("OTHER", server=self._server)) from None
        if response.status_code == HTTPStatus.CONFLICT:
            raise LeaseChangedError
        if response.status_code == HTTPStatus.NOT_FOUND:
            raise self._unavailable(REASONS("MISSING"))
        if not isinstance(document, dict):
            raise self._unavailable(REASONS("OTHER", server=self._server))
        if response.status_code != HTTPStatus.OK:
            message = str(document.get("message", ""))[:_MESSAGE_CHARS]
            raise self._unavailable(REASONS("REFUSED", status=response.status_code, message=message))
        if not isinstance(document.get("metadata"), dict):
            raise self._unavailable(REASONS("OTHER", server=self._server))
        return document

    def _open_client(self) -> httpx2.Client:
        if self._client is None:
            verify: ssl.SSLContext | bool = False
            if self._is_encrypted:
                verify = ssl.create_default_context(cafile=str(self._connection.credentials / "ca.crt"))
            self._client = httpx2.Client(timeout=self._connection.timeout_s, trust_env=False, verify=verify)
        return self._client

    @property
    def _is_encrypted(self) -> bool:
        return self._server.startswith("https:")

    def _token(self) -> str:
        path = self._connection.credentials / "token"
        try:
            return path.read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            raise self._unavailable(REASONS("NO_TOKEN", path=str(path))) from None

    def _unavailable(self, reason: Detail) -> LsqlError:
        return LsqlError(
            "LEASE_UNAVAILABLE", lease=f"{self._connection.namespace}/{self._connection.name}", reason=reason
        )


def _own_server() -> str:
    """The API server of the cluster of this pod. Its address needs no DNS."""
    host = os.environ.get("KUBERNETES_SERVICE_HOST", "kubernetes.default.svc")
    return f"https://{f'[{host}]' if ':' in host else host}:{os.environ.get('KUBERNETES_SERVICE_PORT', '443')}"
