"""The buffers of consumers and producers follow the options of a job; what the program sets comes first."""

from dataclasses import replace

from lsql_runner.engine.port import OutputOptions, SourceOptions
from lsql_runner.engine.source import continuous_settings
from lsql_runner.engine.topic_writer import writer_options
from lsql_runner.kafka.connection import KafkaConnection

KAFKA = KafkaConnection("localhost:1")
SOURCE = SourceOptions(kafka=KAFKA, app_id="app", fetch_bytes=3 << 20)
RUN = "0123456789abcdef0123456789abcdef"
OUTPUT = OutputOptions(kafka=KAFKA, app_id="app", buffer_bytes=3 << 20)


def test_an_answer_to_a_consumer_has_the_size_of_the_job() -> None:
    chosen = replace(SOURCE, consumer=(("fetch.max.bytes", "77"),))

    assert continuous_settings("t", SOURCE, "q")["kafka.fetch.max.bytes"] == str(3 << 20)
    assert continuous_settings("t", chosen, "q")["kafka.fetch.max.bytes"] == "77"


def test_the_buffer_of_a_producer_has_the_size_of_the_job() -> None:
    chosen = replace(OUTPUT, producer=(("buffer.memory", "77"),))

    assert writer_options("q", OUTPUT, RUN)["kafka.buffer.memory"] == str(3 << 20)
    assert writer_options("q", chosen, RUN)["kafka.buffer.memory"] == "77"


def test_the_buffer_of_a_producer_has_room_for_the_largest_record() -> None:
    large = replace(OUTPUT, producer=(("max.request.size", str(5 << 20)),))
    dead_letters = replace(OUTPUT, dead_letter_topic="errors")

    assert writer_options("q", large, RUN)["kafka.buffer.memory"] == str(5 << 20)
    assert writer_options("q", dead_letters, RUN)["kafka.buffer.memory"] == str(32 << 20)
