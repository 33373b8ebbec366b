"""The error for a topic that does not exist: where it was looked for, and the nearest of many names."""

from __future__ import annotations

import pytest

from lsql_runner.errors import Detail, LsqlError
from lsql_runner.formats.catalog import Catalog
from lsql_runner.formats.declared import declared_topics
from lsql_runner.pipeline import plan_text

NAMES = [f"payments-{number}" for number in range(56)]
DECLARED = declared_topics({name: {"value": {"format": "STRING"}} for name in NAMES})


@pytest.mark.parametrize(
    ("catalog", "place"),
    [(Catalog(DECLARED), "DECLARATIONS"), (Catalog(DECLARED, existing=frozenset(NAMES)), "BROKERS")],
)
def test_the_error_has_the_five_nearest_names_and_the_place_of_the_search(catalog: Catalog, place: str) -> None:
    with pytest.raises(LsqlError) as refusal:
        plan_text("INSERT INTO payments-1 SELECT STREAM * FROM payment-12", catalog)

    params = refusal.value.params
    near = str(params["near"]).split(", ")
    assert refusal.value.code == "TOPIC_UNKNOWN"
    assert near[0] == "payments-12"
    assert len(near) == 5
    assert set(near) < set(NAMES)
    assert isinstance(params["place"], Detail)
    assert params["place"].code == place


def test_no_name_is_near() -> None:
    with pytest.raises(LsqlError) as refusal:
        plan_text("INSERT INTO o SELECT STREAM * FROM zzz", Catalog(DECLARED))

    assert refusal.value.params["near"] == "none"
