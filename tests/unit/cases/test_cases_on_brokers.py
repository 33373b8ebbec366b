"""Cases on brokers, tested without brokers: the topics and subjects that they need, cleanup, settings."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from lsql_runner.cases.cleanup import Cleanup, deferred_interrupts
from lsql_runner.cases.load import parse_case
from lsql_runner.cases.model import Case
from lsql_runner.cases.on_kafka import settings_of
from lsql_runner.cases.prepare import prepare_case
from lsql_runner.cases.registry import MemoryRegistry
from lsql_runner.cases.resources import required_subjects, required_topics
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


def test_a_case_needs_every_topic_that_it_names_and_those_that_its_program_creates() -> None:
    settings = "SET autocreate=true; SET partitions=3; SET topic.retention.ms=1000;"
    checked = case(
        "expect: [{topic: o}]\ninput: [{topic: u, partition: 1, value: x}]",
        f"sql: {settings} INSERT INTO o SELECT STREAM a FROM t\n{TOPICS}",
    )
    keep = ("retention.ms", "-1")
    assert required_topics(checked, prepare_case(checked)) == [
        TopicRequest("t", 1, None, (keep,)),
        TopicRequest("u", 2, None, (keep,)),
        TopicRequest("o", 3, None, (keep,)),
    ]


def test_a_compacted_topic_of_a_case_keeps_every_record() -> None:
    compacted = "SET autocreate=true; SET topic.o.cleanup.policy=compact; SET topic.o.max.compaction.lag.ms=60000;"
    checked = case("expect: []", f"sql: {compacted} INSERT INTO o SELECT STREAM a FROM t\n{TOPICS}")
    (target,) = [topic for topic in required_topics(checked, prepare_case(checked)) if topic.name == "o"]
    assert dict(target.config) == {
        "cleanup.policy": "compact",
        "retention.ms": "-1",
        "min.compaction.lag.ms": "9223372036854775807",
        "max.compaction.lag.ms": "9223372036854775807",
    }


def test_a_target_that_the_case_names_need_not_be_created_by_the_program() -> None:
    checked = case("expect: [{topic: o}]", f"sql: INSERT INTO o SELECT STREAM a FROM t\n{TOPICS}")
    assert [(topic.name, topic.partitions) for topic in required_topics(checked, prepare_case(checked))] == [
        ("t", 1),
        ("o", 1),
    ]


def test_a_case_with_a_sink_runs_in_memory_only() -> None:
    checked = case("expect: []\nsinks: {shop: postgresql}", f"sql: INSERT INTO shop SELECT STREAM a FROM t\n{TOPICS}")
    with pytest.raises(LsqlError) as refusal:
        required_topics(checked, prepare_case(checked))
    assert (refusal.value.code, refusal.value.params["sink"]) == ("CASE_SINK_ON_KAFKA", "shop")


def test_a_case_needs_the_subjects_of_all_parts_in_avro() -> None:
    checked = case("expect: []", AVRO)
    assert required_subjects(checked, prepare_case(checked)) == {
        "t-key": "t",
        "t-value": "t",
        "o-key": "o",
        "o-value": "o",
    }


class DeletingBrokers:
    """Records deletions. A deleted topic is still listed once, as on real brokers.

    Args:
        failures: error codes by the name whose deletion fails.
    """

    def __init__(self, failures: Mapping[str, str] | None = None) -> None:
        self.failures = failures or {}
        self.requests: list[str] = []
        self.still_listed: set[str] = set()

    def delete_topic(self, name: str) -> None:
        self.requests.append(name)
        if name in self.failures:
            raise LsqlError(self.failures[name], servers="b:9092", reason="a reason")
        self.still_listed = {name}

    delete_group = delete_topic

    def topics(self) -> dict[str, int]:
        listed, self.still_listed = self.still_listed, set()
        return dict.fromkeys(listed, 1)


def cleanup(brokers: DeletingBrokers, registry: MemoryRegistry | None = None) -> Cleanup:
    made = Cleanup(path=Path("x"), brokers=cast(ports.Brokers, brokers), registry=registry)
    made.groups, made.topics, made.subjects = ["g"], ["t", "u"], ["t-value"]
    return made


def test_everything_that_a_case_created_is_deleted() -> None:
    registry = MemoryRegistry()
    registry.register("t-value", "AVRO", '"int"')
    brokers = DeletingBrokers()

    assert cleanup(brokers, registry).run() == ()
    assert brokers.requests == ["g", "t", "u"]
    assert brokers.still_listed == set()
    assert registry.latest("t-value") is None


def test_a_failed_deletion_is_reported_and_the_other_resources_are_deleted() -> None:
    brokers = DeletingBrokers({"t": "BROKER_REFUSED"})
    [error] = cleanup(brokers).run()
    assert (error.code, error.params["resource"], error.params["name"]) == ("CASE_CLEANUP_FAILED", "topic", "t")
    assert brokers.requests == ["g", "t", "u"]


def test_unreachable_brokers_get_one_request() -> None:
    brokers, registry = DeletingBrokers({"g": "BROKER_UNREACHABLE"}), MemoryRegistry()
    registry.register("t-value", "AVRO", '"int"')
    errors = cleanup(brokers, registry).run()
    assert [error.params["name"] for error in errors] == ["g", "t", "u"]
    assert brokers.requests == ["g"]
    assert registry.latest("t-value") is None


def test_ctrl_c_does_not_interrupt_the_cleanup() -> None:
    class Interrupted(DeletingBrokers):
        def delete_topic(self, name: str) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            super().delete_topic(name)

        delete_group = delete_topic

    brokers, before = Interrupted(), signal.getsignal(signal.SIGINT)
    assert cleanup(brokers).run() == ()
    assert brokers.requests == ["g", "t", "u"]
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_waits_for_a_request_that_creates_something() -> None:
    before, done = signal.getsignal(signal.SIGINT), []

    def create() -> None:
        with deferred_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            done.append("the request")

    with pytest.raises(KeyboardInterrupt):
        create()

    assert done
    assert signal.getsignal(signal.SIGINT) is before


def test_cases_do_not_use_the_settings_that_each_case_sets() -> None:
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
