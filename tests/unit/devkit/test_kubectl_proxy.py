"""Reads of objects through `kubectl proxy`, which is a script here; tests/cluster uses the real one."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from devkit.kubectl_proxy import KubectlProxy, RequestFailed, path_of

NOT_FOUND = {"kind": "Status", "reason": "NotFound", "message": 'pods "b" not found'}
RESPONSES = {
    "/api/v1/namespaces/x/pods/a": (200, json.dumps({"kind": "Pod"})),
    "/api/v1/namespaces/x/pods/b": (404, json.dumps(NOT_FOUND)),
    "/api/v1/namespaces/x/pods/a:8083/proxy/stream": (503, "starting"),
}


class _ApiServer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, body = RESPONSES[self.path]
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[KubectlProxy]:
    """A proxy that serves RESPONSES."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _ApiServer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        program = tmp_path / "kubectl"
        program.write_text(f"#!/bin/sh\necho 'Starting to serve on 127.0.0.1:{server.server_port}'\nexec sleep 60\n")
        program.chmod(0o755)
        try:
            with KubectlProxy(str(program), tmp_path / "kubeconfig") as proxy:
                yield proxy
        finally:
            server.shutdown()


def test_an_object_is_read(proxy: KubectlProxy) -> None:
    assert json.loads(proxy.get("/api/v1/namespaces/x/pods/a")) == {"kind": "Pod"}


def test_a_refusal_has_the_reason_of_the_api_server(proxy: KubectlProxy) -> None:
    with pytest.raises(RequestFailed, match=r'^NotFound: pods "b" not found$') as refused:
        proxy.get("/api/v1/namespaces/x/pods/b")
    assert refused.value.is_missing


def test_a_refusal_by_a_pod_has_its_body(proxy: KubectlProxy) -> None:
    with pytest.raises(RequestFailed, match=r"^503: starting$") as refused:
        proxy.get("/api/v1/namespaces/x/pods/a:8083/proxy/stream")
    assert not refused.value.is_missing


def test_a_server_that_does_not_answer_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RequestFailed) as failed:
        KubectlProxy("kubectl", tmp_path / "kubeconfig").get("/api/v1/namespaces/x/pods/a")
    assert not failed.value.is_missing


@pytest.mark.parametrize(
    ("kind", "name", "selector", "path"),
    [
        ("pod", "a", "", "/api/v1/namespaces/x/pods/a"),
        ("pods", "", "app=a,b!=c", "/api/v1/namespaces/x/pods?labelSelector=app%3Da%2Cb%21%3Dc"),
        ("events", "", "", "/api/v1/namespaces/x/events"),
        ("hpa", "a", "", "/apis/autoscaling/v2/namespaces/x/horizontalpodautoscalers/a"),
        ("widget", "a", "", None),
    ],
)
def test_objects_have_paths(kind: str, name: str, selector: str, path: str | None) -> None:
    assert path_of(kind, "x", name, selector) == path
