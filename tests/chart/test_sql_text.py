"""The program reaches the container unchanged, whichever value it is in and whatever characters it has."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from devkit.helm import Object, ToolFailed, environment, only_object, render

PROGRAMS = {
    "quotes": """SELECT 'it''s', "double", `back-tick`""",
    "expansion": "SELECT '$(SQL)', '$$', '$$$(SQL)', '$', '$$(SQL_APP_ID)' -- $",
    "template": "SELECT '{{ .Values.sql }}', '{{', '}}', '{{- fail -}}'",
    "lines": "SELECT *\n\n  FROM a\r\n\tWHERE x\n\n",
    "leading blanks": "\n   SELECT *\n  FROM a",
    "trailing blanks": "SELECT *   \n   ",
    "yaml": "# not a comment\n- a: &b [c]\n---\n...\n!!binary |\n  %YAML",
    "one word": "yes",
    "number": "0x1F",
    "backslash": "SELECT '\\n', '\\', '\\u0041', 'C:\\'",
    "html": "SELECT a < b AND c > d & e",
    "unicode": "SELECT 'Zürich 東京 🚀 \u200b\u2028\u2029'",
    "controls": "SELECT '\x01\x1b\x7f\x80\x85\x9f\ufeff'",
    "comma": "SELECT a,b{c=d}[0]",
    "long": "SELECT '" + "a$b\n" * 25_000 + "'",
}


def program(objects: list[Object], kind: str = "StatefulSet") -> str:
    container = only_object(objects, kind)["spec"]["template"]["spec"]["containers"][0]
    return environment(container)["SQL"]


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_program_in_a_values_file_is_passed_unchanged(text: str, base: dict[str, object], helm: str) -> None:
    assert program(render({**base, "sql": text}, helm=helm)) == text


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_program_in_a_file_is_passed_unchanged(text: str, base: dict[str, object], tmp_path: Path) -> None:
    file = tmp_path / "query.sql"
    file.write_bytes(text.encode())
    brokers = {key: value for key, value in base.items() if key != "sql"}
    assert program(render(brokers, f"--set-file=sql={file}")) == text


def test_the_validation_gets_the_same_program(base: dict[str, object]) -> None:
    text = PROGRAMS["expansion"]
    assert program(render({**base, "sql": text}), "Job") == text


# Without NUL, which no variable can contain, and without halves of surrogate pairs, which are not valid text.
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(str.strip)


@pytest.mark.timeout(180)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(TEXT, min_size=1, max_size=5))
@example(texts=["y"])
def test_any_text_is_passed_unchanged(texts: list[str], base: dict[str, object]) -> None:
    text = " $(X) ".join(texts)
    assert program(render({**base, "sql": text})) == text


def test_a_program_of_the_maximum_length_is_accepted(base: dict[str, object]) -> None:
    text = "é" * 64_000
    assert program(render({**base, "sql": text})) == text


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sql": "x" * 128_001}, "The program has 128001 bytes"),
        ({"topics": {"a": {"value": {"schema": "x" * 128_000}}}}, "topics has 1280"),
    ],
    ids=["program", "topics"],
)
def test_a_program_that_linux_cannot_pass_is_refused(
    values: dict[str, object], message: str, base: dict[str, object]
) -> None:
    with pytest.raises(ToolFailed) as refused:
        render({**base, **values})
    assert message in refused.value.output
