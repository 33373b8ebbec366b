"""The least rights on the brokers that a program needs.

`lsql explain --acls` prints them, `lsql validate` and each start check them, and docs/guides/security.md shows those of
an example.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from lsql_runner.config.settings import Settings
from lsql_runner.kafka.ports import AccessChecks, Right
from lsql_runner.kafka.rights import Acl
from lsql_runner.pipeline import PlannedProgram


def needed_acls(planned: PlannedProgram, settings: Settings, topics: Collection[str] | None = None) -> tuple[Acl, ...]:
    """The rights that a processor needs: on topics, on its consumer group, and on its transactional ids.

    Args:
        planned: the program.
        settings: of the processor.
        topics: the topics that exist; None if they are not known. Create is needed on targets that the program creates,
            except those that exist.
    """
    exactly_once = delivers_exactly_once(planned, settings)
    created = {topic for topic in planned.plan.targets if planned.bound.settings.topic(topic).autocreate}
    missing = created - set(topics or ())
    rights = _topic_rights(planned, exactly_once)
    transactions = exactly_once and bool(planned.plan.targets)
    return (
        *(
            Acl("topic", name, (*of_topic, *(("Create",) if name in missing else ())))
            for name, of_topic in rights.items()
        ),
        Acl("group", settings.app_id, ("Read",)),
        *((Acl("transactional-id", f"{settings.app_id}/", ("Write",), prefixed=True),) if transactions else ()),
    )


def delivers_exactly_once(planned: PlannedProgram, settings: Settings) -> bool:
    """Whether results are delivered to topics exactly once, else at least once."""
    return (planned.bound.settings.guarantee or settings.guarantee) == "exactly_once"


def check_acls(acls: Iterable[Acl], brokers: AccessChecks) -> None:
    """Check rights on topics and transactional ids before they are used. Writes no record.

    The right on the group is checked after its positions are read, and the request to create a topic checks Create.

    Raises:
        LsqlError: BROKER_UNREACHABLE, BROKER_REFUSED.
    """
    needed: dict[str, list[Right]] = {}
    for acl in acls:
        if acl.resource == "topic":
            needed[acl.name] = [right for right in acl.operations if right != "Create"]
    brokers.check_topics(needed)
    for acl in acls:
        if acl.resource == "transactional-id":
            brokers.check_transactional_id(f"{acl.name}validate")


def _topic_rights(planned: PlannedProgram, exactly_once: bool) -> Mapping[str, tuple[Right, ...]]:
    """By topic: sources, then targets, then the dead letter topic."""
    plan = planned.plan
    by_topic: dict[str, dict[Right, None]] = {source.topic: {"Read": None} for source in plan.sources}
    # A program that handles errors of writing reads the settings of its topics, to find records that they would refuse
    # because of their size or a missing key.
    limited = {write.topic for write in plan.topic_writes if write.errors.write != "fail"} | {plan.dead_letter_topic}
    for topic in plan.targets:
        # With exactly-once, a start reads the targets to find what an earlier process has written.
        of_topic = by_topic.setdefault(topic, {})
        of_topic |= dict.fromkeys(("Read", "Write") if exactly_once else ("Write",))
        of_topic |= dict.fromkeys(("DescribeConfigs",) if topic in limited else ())
    return {topic: tuple(rights) for topic, rights in by_topic.items()}
