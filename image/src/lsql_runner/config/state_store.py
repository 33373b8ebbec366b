"""Where the state is, if it is at a URI: LSQL_STATE_URI, and the settings of Hadoop with which it is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lsql_runner.errors import Detail, DetailError, DetailTable, LsqlError, file_error

OPTION = "LSQL_STATE_OPTION_"
"""Prefix of the variables with settings of Hadoop."""
OPTION_DOC = (
    "Setting of Hadoop for the store at LSQL_STATE_URI: `<KEY>` is its name in capitals, with `_` for `.`; "
    "`LSQL_STATE_OPTION_FS_S3A_ENDPOINT` is `fs.s3a.endpoint`."
)
SCHEMES = ("s3a", "file")
"""The schemes whose files can be created exclusively, as tests show."""

_URI = re.compile(r"(?P<scheme>[a-z][a-z0-9]*)://(?P<host>[^/?#\s]*)(?:/[^?#\s]*)?\Z")
_EXPECTED = DetailTable(
    {
        "FORM": "a URI such as s3a://bucket/path",
        "SCHEME": "a URI that begins with {schemes}",
        "S3": "s3a:// instead of {scheme}://, the name of Hadoop's connector for S3",
        "BUCKET": "the name of a bucket or a host after {scheme}://",
        "CREDENTIALS": "no credentials in the URI; set them with LSQL_STATE_OPTION_<KEY>",
    }
)


@dataclass(frozen=True, slots=True)
class UriStore:
    """The store with the state."""

    uri: str
    """Without a slash at the end."""
    options: tuple[tuple[str, str], ...] = ()
    """Names and values of settings of Hadoop; some are secrets."""

    def __repr__(self) -> str:
        return f"UriStore({self.uri!r})"

    @property
    def scheme(self) -> str:
        return self.uri.partition("://")[0]


def state_uri(text: str) -> str:
    """A value of LSQL_STATE_URI, without the slash at the end; empty for an empty one.

    Raises:
        DetailError: it is not a URI of SCHEMES, or has credentials.
    """
    if not text:
        return text
    match = _URI.match(text)
    if match is None:
        raise DetailError(_EXPECTED("FORM"))
    scheme, host = match["scheme"], match["host"]
    if scheme in ("s3", "s3n"):
        raise DetailError(_EXPECTED("S3", scheme=scheme))
    if scheme not in SCHEMES:
        raise DetailError(_EXPECTED("SCHEME", schemes=", ".join(f"{known}://" for known in SCHEMES)))
    if "@" in host:
        raise DetailError(_EXPECTED("CREDENTIALS"))
    if scheme == "s3a" and not host:
        raise DetailError(_EXPECTED("BUCKET", scheme=scheme))
    return text.rstrip("/")


def hadoop_options(variables: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Settings of Hadoop from the variables OPTION*, by name."""
    return tuple(
        sorted((name.removeprefix(OPTION).lower().replace("_", "."), each) for name, each in variables.items())
    )


def state_store(uri: str, options: tuple[tuple[str, str], ...], site: Path | None) -> UriStore:
    """The store at a URI, with the settings in a file in the form of core-site.xml, and others, which take precedence.

    Raises:
        LsqlError: FILE_UNREADABLE, ENV_INVALID. No message has a value of the file.
    """
    return UriStore(uri, tuple(sorted((_site_options(site) | dict(options)).items())))


def _site_options(site: Path | None) -> dict[str, str]:
    if site is None:
        return {}
    import xml.etree.ElementTree as ET  # no other start needs it

    try:
        root = ET.fromstring(site.read_bytes())
    except OSError as error:
        raise file_error(str(site), error) from None
    except ET.ParseError as error:
        raise _invalid_site(site, _SITE("XML", line=error.position[0])) from None
    options = {}
    for each in root.iter("property"):
        name, value = each.findtext("name"), each.findtext("value")
        if root.tag != "configuration" or not name or value is None:
            raise _invalid_site(site, _SITE("PROPERTY"))
        options[name.strip()] = value.strip()
    return options


def _invalid_site(site: Path, expected: Detail) -> LsqlError:
    return LsqlError("ENV_INVALID", name="LSQL_STATE_SITE", value=str(site), expected=expected)


_SITE = DetailTable(
    {
        "XML": "XML in the form of Hadoop's core-site.xml; line {line} is not XML",
        "PROPERTY": "the form of Hadoop's core-site.xml: a configuration of properties, each with a name and a value",
    }
)
