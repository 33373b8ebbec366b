"""How the output of a query is opened: where the search for records that are written already begins."""

from lsql_runner.engine.offset_log import FirstBatch
from lsql_runner.engine.port import OutputOptions
from lsql_runner.engine.topic_output import _least_positions
from lsql_runner.engine.topic_writer import continuous_writer_options, output_context, writer_name, writer_options
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.connection import KafkaConnection

RUN = "0123456789abcdef0123456789abcdef"
OUTPUT = OutputOptions(kafka=KafkaConnection("localhost:1"), app_id="app")


def test_the_position_of_a_partition_is_the_least_of_all_sources() -> None:
    positions = {Partition("a", 0): 5, Partition("b", 0): 3, Partition("a", 1): 7, Partition("b", 1): 9}

    first = FirstBatch(1, has_begun=True, positions=positions)

    assert _least_positions(first, ["a", "b"]) == {"0": "3", "1": "7"}


def test_a_partition_that_a_source_has_not_had_so_far_begins_at_its_first_record() -> None:
    positions = {Partition("a", 0): 5, Partition("b", 0): 3, Partition("b", 1): 7}

    first = FirstBatch(1, has_begun=True, positions=positions)

    assert _least_positions(first, ["a", "b"]) == {"0": "3"}


def test_a_new_checkpoint_has_no_positions() -> None:
    assert _least_positions(FirstBatch(0, has_begun=False, positions={}), ["a"]) == {}


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
