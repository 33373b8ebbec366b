"""Certificate authorities of tests, and the certificates that they issue."""

from __future__ import annotations

from dataclasses import dataclass

import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)


@dataclass(frozen=True)
class Certificate:
    """A certificate with its chain, and its private key as PKCS#8; both as PEM."""

    chain: str
    key: str

    def encrypted_key(self, password: str) -> str:
        """The private key, encrypted as OpenSSL does it."""
        return _pem(self.key, PrivateFormat.PKCS8, BestAvailableEncryption(password.encode()))

    @property
    def traditional_key(self) -> str:
        """The private key in cert-manager's default form: SEC 1, or PKCS#1 for RSA."""
        return _pem(self.key, PrivateFormat.TraditionalOpenSSL, NoEncryption())


class Authority:
    """A certificate authority."""

    def __init__(self) -> None:
        self._ca = trustme.CA()
        self.certificate = self._ca.cert_pem.bytes().decode()
        """As PEM."""

    def issue(self, *names: str) -> Certificate:
        """Issue a certificate for names or addresses."""
        made = self._ca.issue_cert(*names)
        chain = b"".join(blob.bytes() for blob in made.cert_chain_pems)
        key = made.private_key_pem.bytes().decode()
        return Certificate(chain.decode(), _pem(key, PrivateFormat.PKCS8, NoEncryption()))


def _pem(key: str, form: PrivateFormat, encryption: KeySerializationEncryption) -> str:
    return load_pem_private_key(key.encode(), None).private_bytes(Encoding.PEM, form, encryption).decode()
