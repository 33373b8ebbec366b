"""User-defined functions with `lsql test`. One process runs all cases."""

import pytest

from lsql_runner.errors import CATALOGUE, Recovery
from tests.user_functions import FAILING, PASSING, Reports, run_cases


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    return run_cases(tmp_path_factory.mktemp("functions"))


@pytest.mark.parametrize("name", PASSING)
def test_a_case_with_functions_passes(reports: Reports, name: str) -> None:
    assert reports[name] is None


@pytest.mark.parametrize("name", FAILING)
def test_an_error_has_the_name_of_the_function_and_the_line_of_its_class(reports: Reports, name: str) -> None:
    assert FAILING[name] in (reports[name] or "")


def test_an_unusable_function_is_not_started_again() -> None:
    assert CATALOGUE["FUNCTION_UNUSABLE"].recovery is Recovery.FINAL
