"""No output of the console has a credential: tokens of users and processors, variables of containers."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from devkit.console_fixtures import TOKENS, FakeConsole, token_settings
from devkit.fake_cluster import workload
from lsql_runner.console.auth import digest_of
from lsql_runner.console.routes import ROUTES

RUNNER_TOKEN = "s3cr3t-token-of-the-runner"
VARIABLES = {
    "SASL_JAAS_CONFIG": 'PlainLoginModule required password="s3cr3t-of-the-login";',
    "SSL_KEYSTORE_KEY": "s3cr3t-key",
    "LSQL_SINK_SHOP_PASSWORD": "s3cr3t-of-the-sink",
}
"""As another chart may set them: in the manifest, without a Secret."""
USER_TOKENS = [token for _, token in TOKENS.values()]
SECRETS = [RUNNER_TOKEN, "s3cr3t", *USER_TOKENS, *(digest_of(token) for token in USER_TOKENS)]


def processor() -> dict[str, Any]:
    manifest = workload("a")
    [container] = manifest["spec"]["template"]["spec"]["containers"]
    source = {"secretKeyRef": {"name": "a-api", "key": "token"}}
    container["env"].append({"name": "LSQL_API_TOKEN", "valueFrom": source})
    container["env"] += [{"name": name, "value": value} for name, value in VARIABLES.items()]
    return manifest


def test_no_response_event_or_log_line_has_a_credential(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    console = FakeConsole(token_settings(tmp_path))
    console.cluster.add(processor())
    console.cluster.secrets["streams", "a-api"] = {"token": RUNNER_TOKEN}
    console.refresh()
    shown = []

    for token in (*USER_TOKENS, f"{USER_TOKENS[0]}-wrong"):
        for route in ROUTES:  # the last one deletes the processor
            path = route.path.replace("<id>", "0" if token not in USER_TOKENS else console.id_of("a"))
            response = console.app.test_client().open(
                path.replace("<int:runners>", "2"),
                method=route.method,
                headers={"Authorization": f"Bearer {token}"},
                json={"token": token} if route.body else None,
            )
            shown.append(response.get_data(as_text=True))
        console.cluster.add(processor())
        console.refresh()

    assert console.runners.tokens == [RUNNER_TOKEN] * 2  # of stop and start
    shown += [repr(console.cluster.events), caplog.text, json.dumps([str(vars(line)) for line in caplog.records])]
    assert {each: [text[:200] for text in shown if each in text] for each in SECRETS if each in "\n".join(shown)} == {}
