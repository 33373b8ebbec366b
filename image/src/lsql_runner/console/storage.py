"""The document as the value of a ConfigMap: compressed JSON, within the size limit of Kubernetes.

kubectl get configmap NAME -o jsonpath='{.binaryData.processors\\.json\\.gz}' | base64 -d | gunzip
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from pydantic import ValidationError

from lsql_runner.console.document import SQL_CHARS, Document, ProcessorEntry, cut_program
from lsql_runner.errors import LsqlError

FILE = "processors.json.gz"
LIMIT_BYTES = 900_000
"""Kubernetes allows 1 MiB for a ConfigMap, including its metadata and managed fields."""
READ_LIMIT_BYTES = 256 * 1024 * 1024
_SQL_STEPS = (SQL_CHARS, 4_096, 1_024, 256, 0)
_GZIP = 31
"""The `wbits` of zlib for a gzip header and the largest window."""


def encode(document: Document, limit_bytes: int = LIMIT_BYTES) -> dict[str, bytes]:
    """The values of a ConfigMap for the document, at most `limit_bytes` long.

    All programs are cut to the same, shorter length until the document fits; then topics and errors are left out.

    Raises:
        LsqlError: DOCUMENT_TOO_LARGE.
    """
    packed = b""
    for chars in _SQL_STEPS:
        packed = _pack(_replace_entries(document, tuple(_cut(entry, chars) for entry in document.processors)))
        if len(packed) <= limit_bytes:
            return {FILE: packed}
    packed = _pack(_replace_entries(document, tuple(_bare(entry) for entry in document.processors)))
    if len(packed) <= limit_bytes:
        return {FILE: packed}
    raise LsqlError(
        "DOCUMENT_TOO_LARGE",
        processors=len(document.processors),
        size_bytes=len(packed),
        limit_bytes=limit_bytes,
    )


def decode(content: Mapping[str, bytes]) -> Document | None:
    """The stored document; None if there is none yet.

    Raises:
        ValueError: the value is not a document of this version.
    """
    packed = content.get(FILE)
    if packed is None:
        return None
    unpacking = zlib.decompressobj(_GZIP)
    try:
        text = unpacking.decompress(packed, READ_LIMIT_BYTES)
        if unpacking.unconsumed_tail:
            raise ValueError(f"it has more than {READ_LIMIT_BYTES} bytes")
        return Document.model_validate_json(text, extra="ignore")
    except (zlib.error, ValidationError) as error:
        raise ValueError(f"it is not a document of this version ({type(error).__name__})") from None


def _pack(document: Document) -> bytes:
    packing = zlib.compressobj(6, zlib.DEFLATED, _GZIP)
    return packing.compress(document.model_dump_json(by_alias=True).encode()) + packing.flush()


def _replace_entries(document: Document, entries: tuple[ProcessorEntry, ...]) -> Document:
    return document.model_copy(update={"processors": entries})


def _cut(entry: ProcessorEntry, chars: int) -> ProcessorEntry:
    sql, cut = cut_program(entry.sql, chars)
    return entry.model_copy(update={"sql": sql, "sql_truncated": True}) if cut else entry


def _bare(entry: ProcessorEntry) -> ProcessorEntry:
    less = {"topics_in": (), "topics_out": (), "last_error": None, "reason": None, "health_reasons": ()}
    return _cut(entry, 0).model_copy(update=less)
