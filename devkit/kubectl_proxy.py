"""Reads objects of the API server through one `kubectl proxy`.

A process of kubectl for each request takes 80 ms of processor time, and a test that waits sends several in each second.
"""

from __future__ import annotations

import json
import re
from functools import cache
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import urlopen

from devkit.process import Process

_TIMEOUT_S = 30
_SERVES_AT = re.compile(r"Starting to serve on (\S+)")
_CORE, _APPS = "/api/v1", "/apis/apps/v1"
_RESOURCES = {
    "pod": (_CORE, "pods"),
    "pvc": (_CORE, "persistentvolumeclaims"),
    "secret": (_CORE, "secrets"),
    "events": (_CORE, "events"),
    "deployment": (_APPS, "deployments"),
    "statefulset": (_APPS, "statefulsets"),
    "lease": ("/apis/coordination.k8s.io/v1", "leases"),
    "hpa": ("/apis/autoscaling/v2", "horizontalpodautoscalers"),
}
"""The kinds in namespaces that tests read often."""


class RequestFailed(Exception):
    """The API server did not answer, or not with a success. `is_missing`: there is no such object."""

    def __init__(self, message: str, *, is_missing: bool = False) -> None:
        super().__init__(message)
        self.is_missing = is_missing


class KubectlProxy(Process):
    """`kubectl proxy` with a kubeconfig file, on a free port; ready when it listens."""

    def __init__(self, program: str, kubeconfig: Path) -> None:
        argv: list[str | Path] = [program, "--kubeconfig", kubeconfig, "proxy", "--port=0"]
        super().__init__(argv, name="kubectl-proxy", probe=lambda: bool(self._address()))

    def get(self, path: str) -> str:
        """The response to GET of a path.

        Raises:
            RequestFailed: the response is not a success, or there is none.
        """
        try:
            with urlopen(f"http://{self._address()}{path}", timeout=_TIMEOUT_S) as response:
                return str(response.read().decode())
        except HTTPError as error:
            raise RequestFailed(_message(error), is_missing=error.code == 404) from None
        except (OSError, HTTPException) as error:
            raise RequestFailed(str(error)) from None

    def _address(self) -> str:
        match = _SERVES_AT.search(self.output())
        return match[1] if match else ""


@cache
def proxy(program: str, kubeconfig: Path) -> KubectlProxy:
    """The proxy of this process for a kubeconfig file. It ends with this process."""
    return KubectlProxy(program, kubeconfig).start()


def path_of(kind: str, namespace: str, name: str = "", selector: str = "") -> str | None:
    """The path of an object, or of all objects of a kind, in a namespace; None if the kind is not one of those here."""
    path = _RESOURCES.get(kind) or _RESOURCES.get(kind.removesuffix("s"))
    if path is None:
        return None
    group, resource = path
    query = f"?{urlencode({'labelSelector': selector})}" if selector else ""
    return f"{group}/namespaces/{namespace}/{resource}{f'/{name}' if name else ''}{query}"


def _message(error: HTTPError) -> str:
    """What the API server says, or else the body of the response."""
    body = error.read().decode(errors="replace")
    try:
        status: Any = json.loads(body)
        return f"{status['reason']}: {status['message']}"
    except (ValueError, KeyError, TypeError):
        return f"{error.code}: {body}"
