"""The settings of Kafka Streams and Flink, and the SQL of the workloads."""

from pathlib import Path

from bench import flink_settings, streams_settings
from bench.load_programs import PROGRAMS
from bench.task import Guarantee, Task
from bench.workloads import WORKLOADS
from ci.tools.cache import ROOT

NAMES = [*WORKLOADS, *(program.name for program in PROGRAMS.values())]
TOPOLOGIES = ROOT / "bench/streams/src/main/java/com/lsqlrunner/bench/Topologies.java"


def task(name: str = "filter", guarantee: Guarantee = Guarantee.AT_LEAST_ONCE, is_constant_load: bool = False) -> Task:
    return Task(
        name=name,
        sql="",
        lsql_topics={},
        bootstrap="broker:1",
        source="in",
        other="other",
        targets=("out", "out-2"),
        group="group",
        state=Path("/state"),
        threads=3,
        heap_mib=100,
        registry="http://registry",
        schema_id=7,
        guarantee=guarantee,
        is_constant_load=is_constant_load,
    )


def test_all_engines_have_the_same_number_of_threads_and_client_settings() -> None:
    streams, flink = streams_settings.of(task()), flink_settings.of(task())
    assert (
        streams["num.stream.threads"] == flink["parallelism.default"] == flink["taskmanager.numberOfTaskSlots"] == "3"
    )
    program = flink_settings.program(task())
    for name, value in task().consumer.items():
        assert streams[f"consumer.{name}"] == value
        assert f"'properties.{name}' = '{value}'" in program
    for name, value in task().producer.items():
        assert streams[f"producer.{name}"] == value
        assert f"'properties.{name}' = '{value}'" in program


def test_exactly_once_is_a_setting_of_both_peers() -> None:
    exactly_once = task(guarantee=Guarantee.EXACTLY_ONCE)
    assert streams_settings.of(exactly_once)["processing.guarantee"] == "exactly_once_v2"
    assert "'sink.delivery-guarantee' = 'exactly-once'" in flink_settings.program(exactly_once)
    assert flink_settings.of(exactly_once)["execution.checkpointing.mode"] == "EXACTLY_ONCE"


def test_the_versions_in_the_tables_are_those_of_the_poms() -> None:
    streams, flink = ((ROOT / "bench" / name / "pom.xml").read_text(encoding="utf-8") for name in ("streams", "flink"))
    assert f"<kafka.version>{streams_settings.VERSION}</kafka.version>" in streams
    assert f"<flink.version>{flink_settings.VERSION}</flink.version>" in flink
    assert f"<version>{flink_settings.CONNECTOR_VERSION}</version>" in flink
