"""The results of the engines: the layouts of windows, sampled records."""

from bench.engines import FLINK_SQL, KAFKA_STREAMS
from bench.expected import SAMPLED
from bench.load_programs import PROGRAMS, decoder
from bench.outputs import (
    json_value,
    last_counts,
    sampled_rows,
    session_of_fields,
    session_of_key,
    window_of_fields,
    window_of_key,
)


def ms(value: int) -> bytes:
    return value.to_bytes(8, "big")


def test_the_key_of_a_window_ends_with_its_start() -> None:
    assert window_of_key(60_000)((b"7" + ms(120_000), b"")) == (b"7", 120_000, 180_000)


def test_the_key_of_a_session_ends_with_its_end_and_its_start() -> None:
    assert session_of_key((b"7" + ms(5_000) + ms(1_000), b"")) == (b"7", 1_000, 5_000)


def test_the_windows_of_flink_are_fields() -> None:
    value = b'{"window_start":"1970-01-01 00:02:00","window_end":"1970-01-01 00:03:00.5","n":3}'
    assert window_of_fields((b"7", value)) == (b"7", 120_000, 180_500)
    assert session_of_fields((b"7", value)) == (b"7", 120_000, 150_500)


def test_the_last_count_of_a_window_is_kept_and_a_tombstone_removes_it() -> None:
    results = [(b"a", b'{"n":1}'), (b"a", b'{"n":2}'), (b"b", b'{"n":1}'), (b"b", None)]
    assert last_counts(results, lambda result: (result[0], 0, 0)) == {(b"a", 0, 0): 2}


def test_only_the_records_of_sampled_keys_are_decoded() -> None:
    key = min(SAMPLED)
    assert sampled_rows([(key, b'{"a":1,"b":"x"}'), (b"other", b"no json")], json_value) == {key: [(1, "x")]}


def test_counts_at_a_constant_rate_have_the_same_form_for_all_engines() -> None:
    program = PROGRAMS["two-windows"]
    stored = decoder(KAFKA_STREAMS, program)(b"7" + ms(10_000), b'{"n":2}', 5)
    flink = decoder(FLINK_SQL, program)(b'{"k":"7","window_start":"1970-01-01 00:00:10"}', b'{"k":"7","n":2}', 5)
    assert flink.key == stored.key
    assert flink.value["n"] == stored.value["n"] == 2
