"""The programs of the soak test and their records."""

import json
from collections import Counter

import pytest

from bench.soak.programs import KEYS, SOAK_PROGRAMS, SoakTopics

TOPICS = SoakTopics("soak", 1)


@pytest.mark.parametrize("name", SOAK_PROGRAMS)
def test_the_ids_of_records_are_consecutive(name: str) -> None:
    program = SOAK_PROGRAMS[name]
    records = [program.messages(TOPICS, number)[0] for number in range(300)]
    valid = [
        json.loads(value)["id"] for number, (_, _, value) in enumerate(records) if not program.is_malformed(number)
    ]

    assert {topic for topic, _, _ in records} == {TOPICS.source}
    assert valid == [number for number in range(300) if not program.is_malformed(number)]


def test_one_percent_of_the_records_are_malformed_with_a_dead_letter_topic() -> None:
    program = SOAK_PROGRAMS["dlq"]
    malformed = [number for number in range(1000) if program.is_malformed(number)]

    assert len(malformed) == 10
    for number in malformed:
        with pytest.raises(json.JSONDecodeError):
            json.loads(program.messages(TOPICS, number)[0][2])


def test_the_keys_of_counts_have_equally_many_records() -> None:
    program = SOAK_PROGRAMS["two-windows"]
    keys = Counter(program.messages(TOPICS, number)[0][1] for number in range(KEYS * 10))

    assert set(keys.values()) == {10}


def test_each_record_of_a_join_has_a_row_whose_updates_keep_its_name() -> None:
    program = SOAK_PROGRAMS["join"]
    rows = {key: value for key, value, _ in program.table_rows()}
    messages = [message for number in range(1000) for message in program.messages(TOPICS, number)]
    updates = {key: value for topic, key, value in messages if topic == TOPICS.table}

    assert len(rows) == program.rows
    assert all(key in rows for _, key, _ in messages)
    assert len(updates) == 100
    assert all(rows[key] == value for key, value in updates.items())


def test_the_sources_of_a_join_are_declared() -> None:
    assert set(SOAK_PROGRAMS["join"].lsql_topics(TOPICS)) == {TOPICS.source, TOPICS.table}
    assert set(SOAK_PROGRAMS["filter"].lsql_topics(TOPICS)) == {TOPICS.source}
