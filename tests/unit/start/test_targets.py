"""The topics that a program creates."""

from __future__ import annotations

import pytest

from lsql_runner.formats.catalog import Catalog
from lsql_runner.formats.declared import declared_topics
from lsql_runner.pipeline import plan_text
from lsql_runner.start.targets import target_request

CATALOG = Catalog(
    declared_topics({"t": {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": {"g": "string"}}}})
)
COMPACT = (("cleanup.policy", "compact"),)


@pytest.mark.parametrize(
    ("program", "config"),
    [
        ("INSERT INTO o SELECT STREAM g FROM t", ()),
        ("INSERT INTO o SELECT TABLE g FROM t", COMPACT),
        ("INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t GROUP BY g", COMPACT),
        ("INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t WINDOW BY TUMBLE 1m GROUP BY g", ()),
        ("INSERT INTO o SELECT count(*) AS n FROM t GROUP BY g", COMPACT),
        (
            "SET topic.o.cleanup.policy=delete; INSERT INTO o SELECT TABLE g FROM t",
            (("cleanup.policy", "delete"),),
        ),
        ("INSERT INTO o SELECT TABLE g FROM t; INSERT INTO o SELECT STREAM g FROM t", ()),
    ],
)
def test_the_topic_of_a_table_is_compacted_unless_the_program_sets_another_policy(
    program: str, config: tuple[tuple[str, str], ...]
) -> None:
    planned = plan_text(f"SET autocreate=true; {program}", CATALOG)
    assert target_request(planned, "o").config == config


@pytest.mark.parametrize(
    ("settings", "config"),
    [
        pytest.param("", (), id="the brokers choose"),
        pytest.param("SET defaults.topic.replication=1;", (("min.insync.replicas", "1"),), id="one replica"),
        pytest.param("SET defaults.topic.replication=2;", (("min.insync.replicas", "1"),), id="two replicas"),
        pytest.param("SET defaults.topic.replication=3;", (("min.insync.replicas", "2"),), id="three replicas"),
        pytest.param("SET topic.o.replication=5;", (("min.insync.replicas", "2"),), id="of one topic"),
        pytest.param(
            "SET defaults.topic.replication=3; SET topic.o.min.insync.replicas=3;",
            (("min.insync.replicas", "3"),),
            id="the program chooses",
        ),
    ],
)
def test_a_result_is_on_two_of_three_replicas(settings: str, config: tuple[tuple[str, str], ...]) -> None:
    planned = plan_text(f"SET defaults.topic.autocreate=true; {settings} INSERT INTO o SELECT STREAM g FROM t", CATALOG)

    assert target_request(planned, "o").config == config
