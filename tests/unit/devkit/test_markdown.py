"""Texts in the tables of reference pages are escaped."""

import pytest

from devkit.markdown import cell


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a | b", "a \\| b"),
        ("two\nlines", "two lines"),
        ("SET topic.<name>", "SET topic.&lt;name>"),
        ("the sink `<name>`, not <name>", "the sink `<name>`, not &lt;name>"),
    ],
    ids=["column separator", "line end", "markup", "code"],
)
def test_a_cell_is_escaped(text: str, expected: str) -> None:
    assert cell(text) == expected
