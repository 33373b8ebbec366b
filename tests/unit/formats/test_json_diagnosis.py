"""The explanation of a malformed JSON record."""

import pytest

from lsql_runner.formats.json_diagnosis import diagnose_json
from lsql_runner.types import parse_type

KIND = parse_type(
    "struct<id: long, small: int, name: string, who: struct<age: double>, tags: array<boolean>, "
    "price: decimal(9,2), at: timestamp>"
)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (b'{"id": 1', "expecting ',' delimiter at character 8 of 8"),
        (b"\xff{}", "byte 0 is not UTF-8"),
        (b"[1]", "the record is an array, not an object"),
        (b"12", "the record is the number 12, not an object"),
        (b'{"id": "x"}', 'id is the string "x", not long'),
        (b'{"id": 1.5}', "id is the number 1.5, not long"),
        (b'{"small": 3000000000}', "small is the number 3000000000, not int"),
        (b'{"id": 1e30}', "id is the number 1E+30, not long"),
        (b'{"id": 1}{"id": 2}', "extra data at character 9 of 18"),
        (b'{"id": NaN}', "NaN is not JSON"),
        (b'{"price": 12.345}', "price is the number 12.345, not decimal(9,2)"),
        (b'{"price": 1e-99999999}', "price is the number 1E-99999999, not decimal(9,2)"),
        (b'{"price": 12345678}', "price is the number 12345678, not decimal(9,2)"),
        (b'{"at": 1591970345000, "small": "x"}', 'small is the string "x", not int'),
        (b'{"at": 9223372036854776}', "at is the number 9223372036854776, not timestamp"),
        (b'{"who": {"age": true}}', "who.age is the boolean true, not double"),
        (b'{"tags": [true, 1]}', "tags[1] is the number 1, not boolean"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b'{"id": [' + b"{}," * 500_000 + b"{}]}", None),
    ],
    ids=lambda value: "" if isinstance(value, bytes) else str(value),
)
def test_a_malformed_record_is_explained_with_the_path_of_the_error(data: bytes, reason: str | None) -> None:
    assert diagnose_json(data, KIND, includes_values=True) == reason


@pytest.mark.parametrize(
    "data",
    [
        b'{"id": 10.0, "small": 1.5e1}',
        b'{"price": 12.340}',
        b'{"price": 0e-9}',
        b'{"who": {"age": "NaN"}}',
        b'{"at": 7}',
    ],
    ids=str,
)
def test_a_value_that_has_a_form_of_its_type_is_not_named(data: bytes) -> None:
    assert diagnose_json(data, KIND, includes_values=True) is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"12", "the record is a number, not an object"),
        (b'{"id": "s3cr3t"}', "id is a string, not long"),
        (b'{"small": 3000000000}', "small is a number, not int"),
        (b'{"who": {"age": true}}', "who.age is a boolean, not double"),
        (b'{"tags": [true, "s3cr3t"]}', "tags[1] is a string, not boolean"),
        (b'{"id": "s3cr3t', "unterminated string starting at at character 7 of 14"),
    ],
)
def test_without_values_the_explanation_has_the_path_and_the_kind(data: bytes, reason: str) -> None:
    assert diagnose_json(data, KIND, includes_values=False) == reason


def test_without_values_the_key_of_a_map_is_not_shown() -> None:
    kind = parse_type("struct<labels: map<string, long not null>>")

    assert diagnose_json(b'{"labels": {"s3cr3t": "s3cr3t"}}', kind, includes_values=False) == (
        "labels{} is a string, not long"
    )
    assert diagnose_json(b'{"labels": {"s3cr3t": null}}', kind, includes_values=False) == (
        "labels{} is null, which is not allowed"
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"codes": [1, null]}', "codes[1] is null, which is not allowed"),
        (b'{"labels": {"x": "a", "y": null}}', "labels.y is null, which is not allowed"),
        (b'{"rows": [null, [[1], null]]}', "rows[1][1] is null, which is not allowed"),
        (b'{"codes": null, "labels": {}, "rows": [null, []]}', None),
    ],
)
def test_a_null_element_is_explained(data: bytes, reason: str | None) -> None:
    kind = parse_type(
        "struct<codes: array<int not null>, labels: map<string, string not null>, "
        "rows: array<array<array<int> not null>>>"
    )

    assert diagnose_json(data, kind, includes_values=True) == reason


def test_a_valid_record_has_no_explanation() -> None:
    assert diagnose_json(b'{"id": 1, "name": {"any": 1}, "who": null, "new": 1}', KIND, includes_values=True) is None
