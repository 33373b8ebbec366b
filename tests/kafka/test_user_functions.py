"""User-defined functions in a processor on brokers, whose JVM has another class path and other settings.

`lsql test --kafka` runs each case as a processor would. tests/streams runs all cases, in memory.
"""

from pathlib import Path

import pytest

from devkit.broker import Broker
from tests.user_functions import FAILING, run_cases

pytestmark = pytest.mark.timeout(240)

PASSES = ("writes dead letters of an aggregate", "stops under every policy if a library is missing")
FAILS = "reports the function"


def test_functions_of_a_processor_return_values_and_errors(broker: Broker, tmp_path: Path) -> None:
    reports = run_cases(tmp_path, "--kafka", broker.bootstrap, names=[*PASSES, FAILS])

    assert FAILING[FAILS] in (reports.pop(FAILS) or "")
    assert reports == dict.fromkeys(["the example of the guide", *PASSES])
