"""The rights of `lsql explain --acls` on a broker with an authorizer: each is needed, and together they are enough.

Fakes cannot show this: which rights a request needs is decided by the broker.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AclOperation, ResourceType  # type: ignore[attr-defined]

from devkit.access_rules import PASSWORD, USER, allow, credentials, grant, revoke
from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.records import Record
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.errors import LsqlError
from lsql_runner.kafka.rights import Acl
from lsql_runner.start.dry_run import acls_from_environment, validate

pytestmark = pytest.mark.timeout(300)

DEADLINE_S = 30
POLL_S = 0.05
SOURCE, APP_ID = "orders", "totals"
TOTALS = "INSERT INTO sums SELECT STREAM COUNT(*) AS n FROM orders GROUP BY id"
"""The program of the guide."""
LETTERS = f"""
SET autocreate=true;
SET error.policy='dlq';
SET dead.letter.queue='letters';

INSERT INTO copies SELECT STREAM * FROM orders WHERE id > 0;

{TOTALS}
"""
TOPICS = json.dumps({SOURCE: {"value": {"format": "JSON", "schema": {"id": "long"}}}})


@pytest.fixture
def shop() -> Iterator[Broker]:
    """A broker with the source of the programs; the user has no rights."""
    with Broker(users={USER: PASSWORD}) as own:
        own.create_topic(SOURCE)
        own.produce(SOURCE, [Record(b"k", b'{"id": 1}'), Record(b"k", b"not JSON")])
        yield own


def settings(broker: Broker, sql: str, **variables: str) -> dict[str, str]:
    return {
        "SQL": sql,
        "SQL_APP_ID": APP_ID,
        "SQL_BOOTSTRAP_SERVERS": broker.addresses["secured"],
        "LSQL_TOPICS": TOPICS,
        **credentials(),
        **variables,
    }


def acls_of(sql: str, **variables: str) -> tuple[Acl, ...]:
    """The rights that the program needs, if none of its targets exists."""
    declared = {"SQL": sql, "SQL_APP_ID": APP_ID, "LSQL_TOPICS": TOPICS}
    return acls_from_environment({**declared, **variables}).acls


def rights(acls: Iterable[Acl]) -> list[Acl]:
    """Each operation as a right of its own."""
    return [Acl(acl.resource, acl.name, (operation,), acl.prefixed) for acl in acls for operation in acl.operations]


def refusal(environment: dict[str, str]) -> LsqlError:
    """The error of `lsql validate`. The broker applies a changed rule within a moment."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        try:
            validate(environment)
        except LsqlError as error:
            return error
        time.sleep(POLL_S)
    raise AssertionError("not refused")


def is_valid(environment: dict[str, str]) -> bool:
    try:
        validate(environment)
    except LsqlError:
        return False
    return True


def await_valid(environment: dict[str, str]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not is_valid(environment):
        assert time.monotonic() < deadline, refusal(environment)
        time.sleep(POLL_S)


def refusals(broker: Broker, needed: Iterable[Acl], environment: dict[str, str]) -> dict[str, str]:
    """By right: the message of `lsql validate` if only this right is missing."""
    messages = {}
    for right in needed:
        revoke(broker, right)
        error = refusal(environment)
        assert error.code in ("BROKER_REFUSED", "TOPIC_REFUSED", "TOPIC_UNKNOWN"), error
        messages[f"{right.operations[0]} {right.name}"] = error.message
        grant(broker, right)
        await_valid(environment)
    return messages


def run(broker: Broker, engine: SparkEngine, environment: dict[str, str], folder: Path) -> None:
    """Run the processor until it has read both records."""
    own = ("SQL", "SQL_APP_ID", "SQL_BOOTSTRAP_SERVERS")
    more = {name: value for name, value in environment.items() if name not in own}
    with in_process(engine, broker.addresses["secured"], environment["SQL"], APP_ID, folder, **more) as running:
        running.read_to(2)


def test_a_program_needs_each_of_its_rights_and_no_other(shop: Broker, engine: SparkEngine, tmp_path: Path) -> None:
    needed = rights(acls_of(LETTERS))
    for right in needed:
        grant(shop, right)
    environment = settings(shop, LETTERS)
    await_valid(environment)

    first = [r for r in needed if r.resource != "topic" or r.name == SOURCE or r.operations == ("Create",)]
    before_creation = refusals(shop, first, environment)
    run(shop, engine, environment, tmp_path)
    later = [r for r in needed if r.resource == "topic" and r.name != SOURCE and r.operations != ("Create",)]
    after_creation = refusals(shop, later, environment)

    assert [record.value for record in shop.consume_all("sums")] == [b'{"n":1}']
    assert [record.value for record in shop.consume_all("copies")] == [b'{"id": 1}']
    assert {record.value for record in shop.consume_all("letters")} == {b"not JSON"}
    assert [name for name in before_creation if name.startswith("Create")] == [
        "Create copies",
        "Create sums",
        "Create letters",
    ]
    assert len(after_creation) == 9
    for missing, message in {**before_creation, **after_creation}.items():
        operation, name = missing.split()
        assert name in message, missing
        # A topic without Create is refused with the text of the broker, and one without Read and Write is invisible.
        assert operation in message or operation == "Create" or name == SOURCE, missing


def test_at_least_once_needs_fewer_rights(shop: Broker, engine: SparkEngine, tmp_path: Path) -> None:
    shop.create_topic("sums")
    needed = acls_of(TOTALS, LSQL_GUARANTEE="at_least_once")
    for right in needed:
        grant(shop, right)
    environment = settings(shop, f"SET error.policy.read='continue'; {TOTALS}", LSQL_GUARANTEE="at_least_once")
    await_valid(environment)

    assert needed == (
        Acl("topic", SOURCE, ("Read",)),
        Acl("topic", "sums", ("Write",)),
        Acl("group", APP_ID, ("Read",)),
    )
    run(shop, engine, environment, tmp_path)
    assert [record.value for record in shop.consume_all("sums")] == [b'{"n":1}']


def test_a_group_that_may_be_described_only_is_refused(shop: Broker) -> None:
    shop.create_topic("sums")
    allow(shop, ResourceType.GROUP, APP_ID, AclOperation.DESCRIBE)
    for right in acls_of(TOTALS):
        if right.resource != "group":
            grant(shop, right)

    error = refusal(settings(shop, TOTALS))

    reason = f"the ACLs do not allow Read on the group {APP_ID}"
    assert (error.code, str(error.params["reason"])) == ("BROKER_REFUSED", reason)
