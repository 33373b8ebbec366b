"""Brokers with Kerberos: a real KDC, requests of the small JVM, and a whole processor, which has one JVM."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.broker_clients import java_brokers
from devkit.kerberos import REALM, SERVICE, Kerberos
from devkit.records import Record
from devkit.runner import FAST_COMPILER, LSQL, Runner
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.connection import KafkaConnection

pytestmark = pytest.mark.timeout(180)

PRINCIPAL = "runner"
SQL = "INSERT INTO fast SELECT STREAM * FROM seen WHERE speed > 10"


@pytest.fixture(scope="module")
def kerberos() -> Iterator[Kerberos]:
    with Kerberos() as running:
        yield running


@pytest.fixture(scope="module")
def keytab(kerberos: Kerberos) -> Path:
    return kerberos.keytab(PRINCIPAL)


@pytest.fixture(scope="module")
def kerberos_broker(kerberos: Kerberos) -> Iterator[Broker]:
    with Broker(jvm_options=(kerberos.java_option,), listeners={"kerberos": kerberos.listener()}) as own:
        own.create_topic("seen", partitions=2)
        own.create_topic("fast")
        yield own


def variables(keytab: Path, **changed: str) -> dict[str, str]:
    """Environment variables of a processor."""
    return {
        "SECURITY_PROTOCOL": "SASL_PLAINTEXT",
        "SASL_MECHANISM": "GSSAPI",
        "SASL_KERBEROS_SERVICE_NAME": SERVICE,
        "SASL_KERBEROS_PRINCIPAL": f"{PRINCIPAL}@{REALM}",
        "SASL_KERBEROS_KEYTAB": str(keytab),
    } | changed


def connection(broker: Broker, keytab: Path, **changed: str) -> KafkaConnection:
    keys = {name.lower().replace("_", "."): value for name, value in variables(keytab, **changed).items()}
    return KafkaConnection(broker.addresses["kerberos"], tuple(keys.items()))


def refusal(kerberos: Kerberos, asked: KafkaConnection) -> LsqlError:
    """The error of a request."""
    with closing(java_brokers(asked, 5, (kerberos.java_option,))) as brokers, pytest.raises(LsqlError) as caught:
        brokers.topics()
    why = str(caught.value.params["reason"])
    assert "xception" not in why
    assert "\n" not in why
    return caught.value


def test_a_client_with_a_keytab_connects(kerberos: Kerberos, kerberos_broker: Broker, keytab: Path) -> None:
    kerberos_broker.produce("seen", [Record(b"k", b'{"id": 0, "speed": 1}', partition=1)])
    place = Partition("seen", 1)

    with closing(java_brokers(connection(kerberos_broker, keytab), java_options=(kerberos.java_option,))) as brokers:
        assert brokers.topics()["seen"] == 2
        end = brokers.ends([place])[place]
        assert end >= 1
        brokers.commit("asked", {place: end})
        assert brokers.group_positions("asked", [place]) == {place: end}
        assert brokers.sample("seen", 10)[-1].partition == place


def test_a_keytab_with_old_keys_is_refused(kerberos: Kerberos, kerberos_broker: Broker) -> None:
    old = kerberos.keytab("changed")
    kerberos.keytab("changed")

    error = refusal(kerberos, connection(kerberos_broker, old, SASL_KERBEROS_PRINCIPAL=f"changed@{REALM}"))

    assert error.code == "BROKER_REFUSED"
    assert "another key of the principal" in str(error.params["reason"])


def test_a_keytab_without_the_principal_is_refused(kerberos: Kerberos, kerberos_broker: Broker, keytab: Path) -> None:
    error = refusal(kerberos, connection(kerberos_broker, keytab, SASL_KERBEROS_PRINCIPAL=f"somebody@{REALM}"))

    assert error.code == "BROKER_REFUSED"
    assert "holds no key of the principal" in str(error.params["reason"])


def test_brokers_of_another_service_name_are_refused(kerberos: Kerberos, kerberos_broker: Broker, keytab: Path) -> None:
    error = refusal(kerberos, connection(kerberos_broker, keytab, SASL_KERBEROS_SERVICE_NAME="other"))

    assert error.code == "BROKER_REFUSED"
    assert "does not know the brokers' principal" in str(error.params["reason"])


def test_an_unreachable_kdc_is_reported_as_an_unreachable_broker(kerberos_broker: Broker) -> None:
    with Kerberos() as other:
        own = other.keytab(PRINCIPAL)
        other.stop()

        error = refusal(other, connection(kerberos_broker, own))

    assert error.code == "BROKER_UNREACHABLE"
    assert "login server" in str(error.params["reason"])


def test_a_keytab_with_old_keys_is_refused_by_a_kdc_with_preauthentication(kerberos_broker: Broker) -> None:
    with Kerberos(preauthentication=True) as strict:
        old = strict.keytab(PRINCIPAL)
        strict.keytab(PRINCIPAL)

        error = refusal(strict, connection(kerberos_broker, old))

    assert error.code == "BROKER_REFUSED"
    assert "another key of the principal" in str(error.params["reason"])


def test_a_processor_filters_from_topic_to_topic(
    kerberos: Kerberos, kerberos_broker: Broker, keytab: Path, tmp_path: Path
) -> None:
    kerberos_broker.produce("seen", [Record(b"k", b'{"id": %d, "speed": %d}' % (n, n)) for n in range(20)])
    env = variables(keytab, JAVA_OPTS=f"{FAST_COMPILER} {kerberos.java_option}")

    with Runner(kerberos_broker.addresses["kerberos"], SQL, "behind-kerberos", tmp_path, **env) as runner:
        records = kerberos_broker.consume("fast", 9, deadline_s=90)
        runner.read_to(20)
        assert runner.jvm_pid()
        assert runner.stop() == 0
        assert runner.traces() == []

    assert sorted(json.loads(record.value or b"")["id"] for record in records) == list(range(11, 20))
    assert sum(row.current_offset or 0 for row in kerberos_broker.consumer_groups_describe("behind-kerberos")) >= 20


def test_validate_connects_in_the_same_way(kerberos: Kerberos, kerberos_broker: Broker, keytab: Path) -> None:
    kerberos_broker.produce("seen", [Record(b"k", b'{"id": 0, "speed": 1}')])
    env = variables(keytab, JAVA_OPTS=kerberos.java_option, SQL=SQL)

    result = subprocess.run(
        [LSQL, "validate"],
        env=env | {"SQL_BOOTSTRAP_SERVERS": kerberos_broker.addresses["kerberos"], "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )

    assert (result.returncode, result.stdout.splitlines()[0], result.stderr) == (0, "ok: seen -> fast", "")
