"""Cases on brokers, without any: what they want there, what they leave, whose settings they take."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from lsql_runner.cases.leftovers import Leftovers
from lsql_runner.cases.model import Case, parse_case
from lsql_runner.cases.on_kafka import settings_of
from lsql_runner.cases.prepare import prepare_case
from lsql_runner.cases.registry import MemoryRegistry
from lsql_runner.cases.wanted import wanted_subjects, wanted_topics
from lsql_runner.errors import LsqlError
from lsql_runner.kafka import ports
from lsql_runner.kafka.ports import TopicRequest

TOPICS = """
topics:
  t: {key: {format: STRING}, value: {format: JSON, schema: {a: long}}}
"""
AVRO = """
sql: SET autocreate=true; INSERT INTO o SELECT STREAM a FROM t
topics:
  t: {key: {format: "TW[AVRO]", schema: string}, value: {format: AVRO, schema: {type: record, name: R, fields: [
    {name: a, type: long}]}}}
"""


def case(text: str, base: str) -> Case:
    return parse_case(base + text, Path("x.case.yaml"))


def test_a_case_wants_every_topic_that_it_names_and_those_that_its_program_makes() -> None:
    made = "SET autocreate=true; SET partitions=3; SET topic.o.cleanup.policy=compact;"
    checked = case(
        "expect: [{topic: o}]\ninput: [{topic: u, partition: 1, value: x}]",
        f"sql: {made} INSERT INTO o SELECT STREAM a FROM t\n{TOPICS}",
    )
    keep = ("retention.ms", "-1")
    assert wanted_topics(checked, prepare_case(checked)) == [
        TopicRequest("t", 1, None, (keep,)),
        TopicRequest("u", 2, None, (keep,)),
        TopicRequest("o", 3, None, (("cleanup.policy", "compact"), keep)),
    ]


def test_a_target_that_the_case_names_need_not_be_made_by_the_program() -> None:
    checked = case("expect: [{topic: o}]", f"sql: INSERT INTO o SELECT STREAM a FROM t\n{TOPICS}")
    assert [(topic.name, topic.partitions) for topic in wanted_topics(checked, prepare_case(checked))] == [
        ("t", 1),
        ("o", 1),
    ]


def test_a_case_with_a_sink_is_run_in_memory_only() -> None:
    checked = case("expect: []\nsinks: {shop: postgresql}", f"sql: INSERT INTO shop SELECT STREAM a FROM t\n{TOPICS}")
    with pytest.raises(LsqlError) as refusal:
        wanted_topics(checked, prepare_case(checked))
    assert (refusal.value.code, refusal.value.params["sink"]) == ("CASE_SINK_ON_KAFKA", "shop")


def test_a_case_wants_the_subjects_of_all_that_is_in_avro() -> None:
    checked = case("expect: []", AVRO)
    assert wanted_subjects(checked, prepare_case(checked)) == {
        "t-key": "t",
        "t-value": "t",
        "o-key": "o",
        "o-value": "o",
    }


class Brokers:
    """Takes what is there away, but for what it is told to refuse; topics go when they are asked for once more."""

    def __init__(self, refused: Mapping[str, str] | None = None) -> None:
        self.refused = refused or {}
        self.asked: list[str] = []
        self.going: set[str] = set()

    def delete_topic(self, name: str) -> None:
        self.asked.append(name)
        if name in self.refused:
            raise LsqlError(self.refused[name], servers="b:9092", reason="so it is")
        self.going = {name}

    delete_group = delete_topic

    def topics(self) -> dict[str, int]:
        going, self.going = self.going, set()
        return dict.fromkeys(going, 1)


def leftovers(brokers: Brokers, registry: MemoryRegistry | None = None) -> Leftovers:
    found = Leftovers(Path("x"), cast(ports.Brokers, brokers), registry)
    found.groups, found.topics, found.subjects = ["g"], ["t", "u"], ["t-value"]
    return found


def test_all_that_a_case_made_is_taken_away() -> None:
    registry = MemoryRegistry()
    registry.register("t-value", "AVRO", '"int"')
    brokers = Brokers()

    assert leftovers(brokers, registry).clear() == ()
    assert brokers.asked == ["g", "t", "u"]
    assert brokers.going == set()
    assert registry.latest("t-value") is None


def test_what_cannot_be_taken_away_is_told_and_the_rest_goes() -> None:
    brokers = Brokers({"t": "BROKER_REFUSED"})
    [error] = leftovers(brokers).clear()
    assert (error.code, error.params["resource"], error.params["name"]) == ("CASE_CLEANUP_FAILED", "topic", "t")
    assert brokers.asked == ["g", "t", "u"]


def test_brokers_that_are_away_are_asked_once() -> None:
    brokers, registry = Brokers({"g": "BROKER_UNREACHABLE"}), MemoryRegistry()
    registry.register("t-value", "AVRO", '"int"')
    left = leftovers(brokers, registry).clear()
    assert [error.params["name"] for error in left] == ["g", "t", "u"]
    assert brokers.asked == ["g"]
    assert registry.latest("t-value") is None


def test_ctrl_c_does_not_keep_anything_from_being_taken_away() -> None:
    class Interrupted(Brokers):
        def delete_topic(self, name: str) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            super().delete_topic(name)

        delete_group = delete_topic

    brokers, before = Interrupted(), signal.getsignal(signal.SIGINT)
    assert leftovers(brokers).clear() == ()
    assert brokers.asked == ["g", "t", "u"]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_processors_environment_is_the_cases_without_what_is_a_single_processors() -> None:
    environment = {
        "SQL_FILE": "/nowhere",
        "SQL_APP_ID": "production",
        "SQL_STATE_STORE_DIR": "/nowhere",
        "LSQL_TOPICS": "no JSON",
        "SQL_BOOTSTRAP_SERVERS_FILE": "/nowhere",
        "SQL_SCHEMA_REGISTRY_URL": "http://registry",
        "SASL_USERNAME": "me",
        "LSQL_SCHEMA_REGISTRY_USER": "me",
    }
    own, other = settings_of(environment, "b:9092", None), settings_of(environment, "b:9092", "http://other")
    assert (own.app_id, own.topics, own.bootstrap_servers) == ("lsql-processor", "", "b:9092")
    assert dict(own.connection.security)["sasl.username"] == "me"
    assert (own.schema_registry_url, other.schema_registry_url) == ("http://registry", "http://other")
    assert other.registry_user == "me"
