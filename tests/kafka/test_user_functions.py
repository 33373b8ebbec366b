"""User-defined functions in a processor on brokers: `lsql test --kafka` runs each case as a processor would."""

import pytest

from devkit.broker import Broker
from tests.user_functions import FAILING, PASSING, Reports, run_cases

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="module")
def reports(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Reports:
    return run_cases(tmp_path_factory.mktemp("functions"), "--kafka", broker.bootstrap)


@pytest.mark.parametrize("name", PASSING)
def test_a_case_with_functions_passes(reports: Reports, name: str) -> None:
    assert reports[name] is None


@pytest.mark.parametrize("name", FAILING)
def test_an_error_has_the_name_of_the_function_and_the_line_of_its_class(reports: Reports, name: str) -> None:
    assert FAILING[name] in (reports[name] or "")
