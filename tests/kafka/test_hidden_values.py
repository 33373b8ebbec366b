"""No output of a processor has a value of a record or a credential (docs/guides/security.md).

Of the places of tests/secret_places.py, one of each kind is here: tests/streams has the errors of all. tests/sinks has
the errors of sinks, and tests/cluster the objects of Kubernetes.
"""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.certificates import Authority
from devkit.engines import hidden_values
from devkit.in_process import in_process
from devkit.registry import Registry
from devkit.registry_proxies import RegistryProxy, server_tls
from devkit.runner import Runner
from devkit.security import PASSWORD, USER, Credentials, secured_broker
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.events.state import State
from tests.conftest import TopicFactory
from tests.secret_places import PLACES, SECRETS, shown

pytestmark = pytest.mark.timeout(400)


ON_BROKERS = ("json", "csv", "cast", "group")


@pytest.mark.parametrize("name", ON_BROKERS)
def test_the_error_of_a_processor_that_stops_has_the_place_and_no_value(
    broker: Broker,
    engine: SparkEngine,
    topic: TopicFactory,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    name: str,
) -> None:
    place, source, target = PLACES[name], topic(), topic()
    broker.produce(source, [place.record])
    sql = f"INSERT INTO {target} {place.select.format(t=source)}"
    env = {"LSQL_TOPICS": json.dumps({source: place.declared()})}

    with (
        hidden_values(engine.session),
        in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path, **env) as running,
    ):
        status = running.wait_for(lambda s: s.state is State.FAILED, 120)

    assert status.reason is not None
    assert (status.reason.code, status.reason.params["topic"], status.reason.params["offset"]) == (
        place.code,
        source,
        0,
    )
    assert place.says in str(status.reason.params["reason"])
    output = capfd.readouterr()
    assert shown(repr(status) + caplog.text + output.out + output.err) == []


PAGES = ("/stream", "/health", "/metrics", "/metadata", "/topology", "/openapi.json", "/", "/health/ready", "/no-such")
KEY_PASSWORD, REGISTRY_PASSWORD, REGISTRY_KEY_PASSWORD, SINK_PASSWORD, TOKEN = (
    f"{name}-{uuid.uuid4().hex}" for name in "krcst"
)


@pytest.mark.parametrize(
    ("policy", "level"),
    [
        pytest.param("dlq", "INFO", marks=pytest.mark.thorough),
        ("continue", "ALL"),
        pytest.param("fail", "ALL", marks=pytest.mark.thorough),
    ],
)
def test_no_output_has_a_value_or_a_credential(registry: Registry, tmp_path: Path, policy: str, level: str) -> None:
    """With brokers and a registry that need credentials, at the log level with the most lines. One INSERT uses the
    registry. Other credentials, for example of OAuth, are passed in the same way as the password of the brokers.
    """
    authority = Authority()
    credentials, dead = Credentials(tmp_path), "dead"
    topics = {f"in-{name}": PLACES[name] for name in (ON_BROKERS if policy != "fail" else ("cast",))}
    inserts = [
        f"INSERT INTO out-{name} {'STORE VALUE AS AVRO ' * (name == 'in-cast')}{place.select.format(t=name)}"
        for name, place in topics.items()
    ]
    sql = f"SET autocreate=true; SET error.policy={policy}; " + ";\n".join(inserts)
    if policy == "dlq":
        sql = f"SET dead.letter.queue='{dead}'; {sql}"
    certificate, registry_certificate = authority.issue("client"), authority.issue("registry-client")
    key = certificate.encrypted_key(KEY_PASSWORD)
    registry_key = registry_certificate.encrypted_key(REGISTRY_KEY_PASSWORD)
    registry_tls = server_tls(authority.issue("127.0.0.1"), clients_of=authority)
    with (
        secured_broker(tmp_path) as secured,
        RegistryProxy(registry.url, credentials=("registry-user", REGISTRY_PASSWORD), tls=registry_tls) as proxy,
    ):
        for name, place in topics.items():
            secured.broker.create_topic(name, 1)
            secured.broker.produce(name, [place.record])
        env = {
            "SQL_BOOTSTRAP_SERVERS": secured.broker.addresses["login"],
            "SECURITY_PROTOCOL": "SASL_SSL",
            **credentials.trust(secured.authority),
            **credentials.user("PLAIN", USER, PASSWORD),
            **credentials.client(certificate, key, KEY_PASSWORD),
            "SQL_SCHEMA_REGISTRY_URL": proxy.url,
            "LSQL_SCHEMA_REGISTRY_USER": "registry-user",
            "LSQL_SCHEMA_REGISTRY_PASSWORD": REGISTRY_PASSWORD,
            "LSQL_SCHEMA_REGISTRY_CA": authority.certificate,
            "LSQL_SCHEMA_REGISTRY_CERTIFICATE": registry_certificate.chain,
            "LSQL_SCHEMA_REGISTRY_KEY": registry_key,
            "LSQL_SCHEMA_REGISTRY_KEY_PASSWORD": REGISTRY_KEY_PASSWORD,
            "LSQL_SINK_SHOP_URL": "jdbc:postgresql://127.0.0.1:1/shop",
            "LSQL_SINK_SHOP_USER": "shop",
            "LSQL_SINK_SHOP_PASSWORD": SINK_PASSWORD,
            "LSQL_API_TOKEN": TOKEN,
            "ROOT_LOG_LEVEL": level,
            "LSQL_TOPICS": json.dumps({name: place.declared() for name, place in topics.items()}),
        }
        state = tmp_path / "state"
        with Runner(secured.broker.bootstrap, sql, "hidden", state, **env) as runner:
            if policy == "fail":
                runner.reach("failed", 150)
            else:
                runner.wait_for(lambda s: sum(each["records"] for each in s["failedRecords"]) >= len(topics), 150)
            pages = [json.dumps(runner.get(page).body) for page in PAGES]
            runner.stop()
            output = runner.output()
        headers = [
            value.decode()
            for record in (secured.broker.consume_all(dead) if policy == "dlq" else [])
            for name, value in record.headers
            if name.startswith("lsql.error.") and value is not None
        ]

    used = (PASSWORD, KEY_PASSWORD, REGISTRY_PASSWORD, REGISTRY_KEY_PASSWORD, SINK_PASSWORD, TOKEN)
    secrets = (*used, *(each.splitlines()[1] for each in (key, registry_key)))
    assert shown("\n".join([*pages, output, *headers]), (*SECRETS, *secrets)) == []
    assert len({value for value in headers if value.startswith("in-")}) == (len(topics) if policy == "dlq" else 0)
    for path in state.rglob("*"):
        if path.is_file():
            assert shown(path.read_bytes().decode("latin-1"), secrets) == [], path
