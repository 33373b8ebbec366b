"""How the output of a query is opened: where the search for records that are written already begins."""

import json

from lsql_runner.engine.port import OutputOptions
from lsql_runner.engine.topic_output import insert_positions
from lsql_runner.engine.topic_writer import continuous_writer_options, output_context, writer_name, writer_options
from lsql_runner.events.batches import Partition
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Catalog, Serde, TopicSchema
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.pipeline import plan_text
from lsql_runner.types import LONG, STRING, Array, Field, Struct

RUN = "0123456789abcdef0123456789abcdef"
OUTPUT = OutputOptions(kafka=KafkaConnection("localhost:1"), app_id="app")


LARGE = Struct((Field("n", LONG), Field("tags", Array(STRING))))
CATALOG = Catalog(
    {name: TopicSchema(name, Serde(STRING_FORMAT, STRING), Serde(JSON_FORMAT, LARGE), partitions=2) for name in "ab"}
)


def positions_of(sql: str, positions: dict[Partition, int], query: int = 0) -> list[dict[str, object]]:
    plan = plan_text(f"SET defaults.topic.autocreate=true; {sql}", CATALOG).plan
    document: list[dict[str, object]] = json.loads(insert_positions(plan.queries[query], positions))
    return document


def test_each_insert_has_the_positions_of_its_own_topic() -> None:
    positions = {Partition("a", 0): 1_000_000, Partition("b", 0): 3, Partition("a", 1): 7}

    of_a, of_b = positions_of(
        "INSERT INTO x SELECT STREAM n FROM a; INSERT INTO x SELECT STREAM n FROM b LATERAL tags AS tag", positions
    )

    assert (of_a["topic"], of_a["positions"], of_a["arrays"]) == ("a", {"0": 1_000_000, "1": 7}, 0)
    assert (of_b["topic"], of_b["positions"], of_b["arrays"]) == ("b", {"0": 3}, 1)
    assert of_a["targets"] == ["x"]
    assert of_a["tag"] != of_b["tag"]


def test_dead_letters_of_a_join_have_a_tag_for_each_topic() -> None:
    sql = """SET error.policy.read='dlq'; SET dead.letter.queue='dead';
    INSERT INTO x SELECT STREAM a.n FROM a JOIN b ON a.n = b.n WITHIN 1m"""

    of_a, of_b = positions_of(sql, {Partition("a", 0): 5, Partition("b", 0): 3}, query=1)

    assert (of_a["topic"], of_a["positions"]) == ("a", {"0": 5})
    assert (of_b["topic"], of_b["positions"]) == ("b", {"0": 3})
    assert of_a["targets"] == ["dead"]
    assert of_a["tag"] != of_b["tag"]


def test_the_writer_is_named_after_the_processor_the_run_and_the_query() -> None:
    assert writer_name("app", RUN, "stateful-0") == "app/01234567/stateful-0/"


def test_the_sink_gets_the_writer_and_the_commit_interval() -> None:
    options = writer_options("q", OUTPUT, RUN)

    assert (options["output"], options["writer"], options["commit.interval.ms"]) == ("app/q", "app/01234567/q/", "100")
    assert continuous_writer_options("q", OUTPUT, RUN, 7)["continuous.batch"] == "7"


def test_the_sink_knows_whether_its_tasks_run_on_workers() -> None:
    on_workers = OutputOptions(kafka=OUTPUT.kafka, app_id="app", on_workers=True)

    assert writer_options("q", OUTPUT, RUN)["on.workers"] == "false"
    assert writer_options("q", on_workers, RUN)["on.workers"] == "true"


def test_only_records_of_exactly_once_delivery_have_identities() -> None:
    exactly_once = OutputOptions(kafka=OUTPUT.kafka, app_id="app", exactly_once=True)

    assert not output_context(OUTPUT).with_identities
    assert output_context(exactly_once).with_identities
