"""Certificates of authorities in settings, as PEM."""

from __future__ import annotations

import re
import ssl

from lsql_runner.errors import DetailError, DetailTable

_CERTIFICATE = re.compile("-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\\s]*-----END CERTIFICATE-----", re.ASCII)
_EXPECTED = DetailTable({"CERTIFICATES": "certificates as PEM"})


def certificates(pem: str) -> str:
    """The certificates of a text, without the text between them, which need not be ASCII; empty for no text.

    Raises:
        DetailError: it contains no certificate, or one that is not valid.
    """
    blocks = "\n".join(_CERTIFICATE.findall(pem))
    if pem and not blocks:
        raise DetailError(_EXPECTED("CERTIFICATES"))
    if blocks:
        trusting(blocks)
    return blocks


def trusting(authorities: str) -> ssl.SSLContext:
    """The TLS context of a client that trusts these certificates, or the system's if there are none.

    Raises:
        DetailError: one of them is not valid.
    """
    try:
        return ssl.create_default_context(cadata=authorities or None)
    except ssl.SSLError:
        raise DetailError(_EXPECTED("CERTIFICATES")) from None
