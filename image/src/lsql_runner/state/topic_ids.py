"""Whether saved positions belong to the topics that the brokers have now.

A topic that is deleted and created again has another id.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from lsql_runner.errors import DetailTable, LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.ports import TopicReader
from lsql_runner.state.saved_state import Pinned

LOSSES = DetailTable(
    {
        "RECREATED": "the topic {topic} was deleted and created again",
        "SHORTER": "partition {partition} of the topic {topic} ends at {end}, before the saved position {position}",
        "DELETED": "partition {partition} of the topic {topic} begins at {begin}, after the saved position {position}",
    }
)
"""Why saved positions do not belong to a topic."""


def recreated_topics(
    pinned: Pinned | None, topic_ids: Mapping[str, str], group_ids: Mapping[Partition, str]
) -> tuple[str, ...]:
    """The topics that were deleted and created again since positions in them were saved.

    Args:
        pinned: the content of program.json; None in a new directory. Its ids come before the group's ids.
        topic_ids: by topic, its id; empty if the brokers have none.
        group_ids: by partition, the id of the topic that the position of the group belongs to, if it is known.
    """
    of_group = {place.topic: group_ids[place] for place in foreign_positions(topic_ids, group_ids)}
    saved = of_group | {topic: each for topic, each in (pinned.topic_ids if pinned else {}).items() if each}
    return tuple(topic for topic, now in topic_ids.items() if now and saved.get(topic) not in (None, "", now))


def foreign_positions(topic_ids: Mapping[str, str], group_ids: Mapping[Partition, str]) -> set[Partition]:
    """The partitions in which the position of the group belongs to an earlier topic with the same name."""
    return {place for place, each in group_ids.items() if each and topic_ids.get(place.topic) not in (None, "", each)}


def shorter_partitions(
    positions: Iterable[Mapping[Partition, int]], ends: Mapping[Partition, int]
) -> dict[Partition, int]:
    """The positions that are after the ends of their partitions, which have lost their last records."""
    return {place: offset for each in positions for place, offset in each.items() if offset > ends.get(place, offset)}


def deleted_topic(pinned: Pinned | None, topics: Iterable[str], brokers: TopicReader) -> str | None:
    """The first of these topics that an earlier start has read, and that does not exist any more; None if all do.

    Raises:
        LsqlError: BROKER_UNREACHABLE, BROKER_REFUSED.
    """
    saved = {} if pinned is None else pinned.topic_ids
    read = [topic for topic in topics if topic in saved]
    existing = brokers.topics() if read else {}
    return next((topic for topic in read if topic not in existing), None)


def ids_of(topics: Collection[str], brokers: TopicReader) -> dict[str, str]:
    """By topic, its id; empty if the brokers have none.

    Raises:
        LsqlError: TOPIC_DELETED if one has just been deleted: without its id, the next one with its name would be read
            in its place; BROKER_UNREACHABLE, BROKER_REFUSED.
    """
    ids = brokers.topic_ids(topics)
    for topic in topics:
        if topic not in ids:
            raise LsqlError("TOPIC_DELETED", topic=topic)
    return ids


def check_unchanged(topic_ids: Mapping[str, str], brokers: TopicReader) -> None:
    """Check that topics are those with which a plan began.

    Args:
        topic_ids: by topic, its id at the start.
        brokers: the brokers.

    Raises:
        LsqlError: TOPIC_DELETED if one does not exist any more, or was created again; BROKER_UNREACHABLE,
            BROKER_REFUSED.
    """
    now = brokers.topic_ids(topic_ids)
    for topic, topic_id in topic_ids.items():
        if now.get(topic) != topic_id:
            raise LsqlError("TOPIC_DELETED", topic=topic)
