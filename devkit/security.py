"""A broker with a listener for each way to authenticate, and the environment variables of a processor that uses them.

The variables are those that the chart sets, with the same names: some are values, some are files with secrets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from devkit.broker import Broker, Listener
from devkit.certificates import Authority, Certificate
from devkit.tokens import AUDIENCE, TokenServer

USER, PASSWORD = "runner", "p\"a\\s=s,w;o'r d$ü"
SCRAM_USER = 'run"n\\e=r,'
"""Only for SCRAM: a broker has the users of PLAIN in names of JAAS options, which do not allow these characters."""
CLIENT, CLIENT_SECRET = "runner-client", 's"e\\c=r,e;t'
CLIENT_NAME = "runner.example"
"""The name in the client's certificate."""
HERE = ("127.0.0.1", "localhost")
"""Names in the certificate of the broker: Kafka's client resolves the address to a name and compares the name."""

_JAAS = "org.apache.kafka.common.security"
_SCRAM = {"SCRAM-SHA-256": ScramMechanism.SCRAM_SHA_256, "SCRAM-SHA-512": ScramMechanism.SCRAM_SHA_512}


@dataclass(frozen=True)
class SecuredBroker:
    """A running broker. Its listeners: `tls`, `misnamed` (a certificate of another host), `mutual`, `login`."""

    broker: Broker
    authority: Authority
    tokens: TokenServer


@contextmanager
def secured_broker(folder: Path) -> Iterator[SecuredBroker]:
    """A broker with all its listeners; `folder` is for its certificates."""
    authority = Authority()
    with TokenServer({CLIENT: CLIENT_SECRET}) as tokens:
        allowed = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={tokens.keys_url}"
        with Broker(jvm_options=(allowed,), listeners=_listeners(folder, authority, tokens)) as broker:
            _add_scram_users(broker)
            yield SecuredBroker(broker, authority, tokens)


def _listeners(folder: Path, authority: Authority, tokens: TokenServer) -> dict[str, Listener]:
    own = _key_store(folder / "here.pem", authority.issue(*HERE))
    trusted = folder / "ca.pem"
    trusted.write_text(authority.certificate)
    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(trusted), "ssl.client.auth": "required"}
    return {
        "tls": Listener("SSL", settings=own),
        "misnamed": Listener(
            "SSL", settings=_key_store(folder / "elsewhere.pem", authority.issue("elsewhere.example"))
        ),
        "mutual": Listener("SSL", settings=own | trust),
        "login": Listener("SASL_SSL", ("PLAIN", *_SCRAM, "OAUTHBEARER"), own | _plain() | _scram() | _oauth(tokens)),
    }


def _key_store(path: Path, certificate: Certificate) -> dict[str, str]:
    path.write_text(certificate.key + certificate.chain)
    return {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(path)}


def _plain() -> dict[str, str]:
    known = PASSWORD.replace("\\", "\\\\").replace('"', '\\"')
    return {"plain.sasl.jaas.config": f'{_JAAS}.plain.PlainLoginModule required user_{USER}="{known}";'}


def _scram() -> dict[str, str]:
    return {f"{name.lower()}.sasl.jaas.config": f"{_JAAS}.scram.ScramLoginModule required;" for name in _SCRAM}


def _oauth(tokens: TokenServer) -> dict[str, str]:
    return {
        "oauthbearer.sasl.jaas.config": f"{_JAAS}.oauthbearer.OAuthBearerLoginModule required;",
        "oauthbearer.sasl.server.callback.handler.class": f"{_JAAS}.oauthbearer.OAuthBearerValidatorCallbackHandler",
        "sasl.oauthbearer.jwks.endpoint.url": tokens.keys_url,
        "sasl.oauthbearer.expected.audience": AUDIENCE,
        "sasl.oauthbearer.expected.issuer": tokens.issuer,
    }


def _add_scram_users(broker: Broker) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for mechanism in _SCRAM.values():  # the brokers accept one user per request
        wanted = UserScramCredentialUpsertion(SCRAM_USER, ScramCredentialInfo(mechanism, 4096), PASSWORD.encode())
        admin.alter_user_scram_credentials([wanted])[SCRAM_USER].result(30)


@dataclass(frozen=True)
class Credentials:
    """The files that the chart mounts, and the variables with their paths. The files are written to `folder`."""

    folder: Path

    def trust(self, *authorities: Authority) -> dict[str, str]:
        """The certificates that the client trusts."""
        pem = "".join(authority.certificate for authority in authorities)
        return {"SSL_TRUSTSTORE_TYPE": "PEM", **self._file("SSL_TRUSTSTORE_CERTIFICATES", "ca.crt", pem)}

    def client(self, certificate: Certificate, key: str = "", password: str = "") -> dict[str, str]:
        """A client certificate. `key` is its private key in another form, `password` is the password of the key."""
        return {
            "SSL_KEYSTORE_TYPE": "PEM",
            **self._file("SSL_KEYSTORE_CERTIFICATE_CHAIN", "tls.crt", certificate.chain),
            **self._file("SSL_KEYSTORE_KEY", "tls.key", key or certificate.key),
            **(self._file("SSL_KEY_PASSWORD", "tls.key.password", password) if password else {}),
        }

    def user(self, mechanism: str, user: str, password: str) -> dict[str, str]:
        """A user of PLAIN or SCRAM."""
        return {
            "SASL_MECHANISM": mechanism,
            "SASL_USERNAME": user,
            **self._file("SASL_PASSWORD", "password", password),
        }

    def oauth(self, token_url: str, client: str, secret: str, scope: str = "") -> dict[str, str]:
        """A client of OAuth."""
        return {
            "SASL_MECHANISM": "OAUTHBEARER",
            "SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL": token_url,
            "SASL_OAUTHBEARER_CLIENT_ID": client,
            **self._file("SASL_OAUTHBEARER_CLIENT_SECRET", "client-secret", secret),
            **({"SASL_OAUTHBEARER_SCOPE": scope} if scope else {}),
        }

    def _file(self, variable: str, name: str, content: str) -> Mapping[str, str]:
        path = self.folder / name
        path.write_text(content, encoding="utf-8")
        return {f"{variable}_FILE": str(path)}
