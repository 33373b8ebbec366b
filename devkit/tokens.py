"""A token endpoint for tests: it returns signed tokens for client credentials, and the keys to verify them."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

AUDIENCE = "kafka"
TOKEN_LIFE_S = 600
_KEY_ID = "kit"


class TokenServer:
    """An OAuth server on a random port of 127.0.0.1; `clients` are secrets by client id.

    `granted` has the client id and the scope ("" for none) of each successful request. Serves within the block.
    """

    def __init__(self, clients: Mapping[str, str]) -> None:
        self._clients = dict(clients)
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.granted: list[tuple[str, str]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        self.token_url = f"{self.issuer}/token"
        self.keys_url = f"{self.issuer}/keys"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def keys(self) -> dict[str, Any]:
        """The JSON Web Key Set."""
        key = RSAAlgorithm.to_jwk(self._key.public_key(), as_dict=True)
        return {"keys": [key | {"kid": _KEY_ID, "use": "sig", "alg": "RS256"}]}

    def grant(self, authorization: str, form: Mapping[str, list[str]]) -> tuple[int, dict[str, Any]]:
        """Status and body of the response to a token request. `authorization` is the header of that name."""
        if form.get("grant_type") != ["client_credentials"]:
            return 400, {"error": "unsupported_grant_type"}
        client, _, secret = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
        if client not in self._clients or self._clients[client] != secret:
            return 401, {"error": "invalid_client", "error_description": "no such client or another secret"}
        scope = " ".join(form.get("scope", []))
        self.granted.append((client, scope))
        return 200, {"access_token": self._token(client, scope), "token_type": "Bearer", "expires_in": TOKEN_LIFE_S}

    def _token(self, client: str, scope: str) -> str:
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": AUDIENCE, "sub": client, "iat": now, "exp": now + TOKEN_LIFE_S}
        if scope:
            claims["scope"] = scope
        return jwt.encode(claims, self._key, algorithm="RS256", headers={"kid": _KEY_ID})

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        tokens = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(*((200, tokens.keys()) if self.path == "/keys" else (404, {})))

            def do_POST(self) -> None:
                form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode())
                self._send(*tokens.grant(self.headers.get("Authorization", ""), form))

            def log_message(self, format: str, *args: object) -> None:
                pass

            def _send(self, status: int, body: Mapping[str, Any]) -> None:
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        return Handler
