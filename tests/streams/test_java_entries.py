"""The names of `jvm.java_entries` exist in a running session."""

from typing import Any

import pytest

from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.jvm import java_entries as entries


def test_every_function_is_registered_in_a_session(engine: MemoryEngine) -> None:
    catalog: Any = engine.session._jsparkSession.catalog()

    assert {name for name in entries.FUNCTIONS if not catalog.functionExists(name)} == set()


@pytest.mark.parametrize("name", sorted(entries.CALLED | entries.SETTING_VALUES | {entries.BROKER_REQUESTS}))
def test_a_class_can_be_loaded(engine: MemoryEngine, name: str) -> None:
    jvm: Any = engine.session._jvm

    assert jvm.java.lang.Class.forName(name).getName() == name


def test_the_conditions_are_equal_in_python_and_java(engine: MemoryEngine) -> None:
    jvm: Any = engine.session._jvm
    values = jvm.java.lang.Class.forName(entries.CONDITION_ENUM).getEnumConstants()

    assert {value.name() for value in values} == entries.CONDITIONS
