"""Random byte strings, close to valid records and far from them, for tests of decoders."""

from __future__ import annotations

from hypothesis import strategies as st

_LONGEST = 64


def bytes_near(*records: bytes) -> st.SearchStrategy[bytes]:
    """Any bytes, and the records with a part cut out and another one inserted."""
    pieces = st.binary(max_size=8) | st.sampled_from([b"\0", b"\xff", b'"', b"<", b"{", b"\n", *records])

    @st.composite
    def changed(draw: st.DrawFn) -> bytes:
        record = draw(st.sampled_from(records))
        start = draw(st.integers(0, len(record)))
        end = draw(st.integers(start, min(len(record), start + 8)))
        return record[:start] + draw(pieces) + record[end:]

    return st.binary(max_size=_LONGEST) | changed() | changed().map(lambda data: data[: len(data) // 2])
