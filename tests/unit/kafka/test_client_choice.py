"""The choice of the Kafka client, and the class path of the small JVM."""

from contextlib import closing
from fnmatch import fnmatch
from pathlib import Path

import pytest

from devkit.jars import jar_folder
from lsql_runner.errors import LsqlError
from lsql_runner.kafka.broker_jvm import BrokerJvm, class_path
from lsql_runner.kafka.client_choice import java_only_setting, open_brokers
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.librdkafka import LibrdkafkaBrokers

SASL = {"security.protocol": "SASL_SSL"}
PLAIN = SASL | {"sasl.mechanism": "PLAIN"}
OAUTH = SASL | {"sasl.mechanism": "OAUTHBEARER"}
TLS = {"security.protocol": "SSL"}
PEM_STORE = {"ssl.truststore.type": "PEM", "ssl.truststore.location": "/ca.crt"}
ROOT = Path(__file__).parents[3]


def connection(security: dict[str, str]) -> KafkaConnection:
    return KafkaConnection("127.0.0.1:1", tuple(security.items()))


@pytest.mark.parametrize(
    "security",
    [
        {},
        {"sasl.mechanism": "GSSAPI", "ssl.truststore.location": "/trust.jks"},  # not used by PLAINTEXT
        TLS,
        TLS | {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": "CA"},
        TLS | PEM_STORE,
        TLS | {"ssl.keystore.type": "pem", "ssl.keystore.location": "/tls.pem"},
        TLS | {"sasl.mechanism": "GSSAPI"},
        PLAIN,
        PLAIN | {"sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required;"},
        SASL | {"sasl.mechanism": "SCRAM-SHA-256"},
        SASL | {"sasl.mechanism": "SCRAM-SHA-512"},
        OAUTH,
        OAUTH
        | {
            "sasl.login.callback.handler.class": "org.apache.kafka.common.security.oauthbearer.secured."
            "OAuthBearerLoginCallbackHandler"
        },
        {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "ssl.truststore.location": "/trust.jks"},
    ],
)
def test_librdkafka_is_used_if_it_supports_the_settings(security: dict[str, str]) -> None:
    assert java_only_setting(connection(security)) is None


@pytest.mark.parametrize(
    ("security", "key"),
    [
        (SASL | {"sasl.mechanism": "GSSAPI"}, "sasl.mechanism"),
        (SASL, "sasl.mechanism"),
        (SASL | {"sasl.mechanism": "AWS_MSK_IAM"}, "sasl.mechanism"),
        (PLAIN | {"sasl.jaas.config": " com.example.Login required a=b;"}, "sasl.jaas.config"),
        (PLAIN | {"sasl.login.class": "com.example.Login"}, "sasl.login.class"),
        (PLAIN | {"sasl.client.callback.handler.class": "c.H"}, "sasl.client.callback.handler.class"),
        (OAUTH | {"sasl.login.callback.handler.class": "c.H"}, "sasl.login.callback.handler.class"),
        (TLS | {"ssl.truststore.location": "/trust.jks"}, "ssl.truststore.location"),
        (TLS | PEM_STORE | {"ssl.truststore.type": "PKCS12"}, "ssl.truststore.location"),
        (TLS | PEM_STORE | {"ssl.keystore.location": "/key.jks"}, "ssl.keystore.location"),
        (PLAIN | {"ssl.truststore.location": "/trust.jks"}, "ssl.truststore.location"),
        (TLS | {"ssl.engine.factory.class": "c.F"}, "ssl.engine.factory.class"),
    ],
)
def test_java_is_used_for_settings_that_librdkafka_does_not_support(security: dict[str, str], key: str) -> None:
    assert java_only_setting(connection(security)) == key


def test_no_jvm_is_started_for_librdkafka() -> None:
    without_jars = BrokerJvm(Path("/nowhere")).start

    with closing(open_brokers(connection({}), without_jars)) as brokers:
        assert isinstance(brokers, LibrdkafkaBrokers)
    with pytest.raises(LsqlError) as caught:
        open_brokers(connection(TLS | {"ssl.truststore.location": "/trust.jks"}), without_jars)
    assert caught.value.code == "JARS_MISSING"


def test_the_class_path_is_short_and_has_added_jars(tmp_path: Path) -> None:
    for jar in jar_folder("jars").glob("*.jar"):
        (tmp_path / jar.name).symlink_to(jar)
    (tmp_path / "aws-msk-iam-auth.jar").touch()

    names = [Path(path).name for path in class_path(tmp_path)]

    assert "aws-msk-iam-auth.jar" in names
    assert not [name for name in names if name.startswith(("spark-", "hadoop-", "scala-", "log4j"))]
    assert len(names) == 10


def test_the_image_keeps_every_jar_of_the_class_path() -> None:
    lines = (ROOT / "image/recipe/unused-jars.txt").read_text().splitlines()
    unused = " ".join(line for line in lines if not line.startswith("#")).split()
    names = [Path(path).name for path in class_path(jar_folder("jars"))]

    assert [name for name in names if any(fnmatch(name, pattern) for pattern in unused)] == []
