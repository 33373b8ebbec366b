"""The metrics of the table: the events and the status that change them; no other metrics are exposed."""

import subprocess
import sys
from dataclasses import replace
from typing import get_args

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from devkit.fake_processor import SCENARIOS, FakeProcessor
from lsql_runner.errors import LsqlError, report
from lsql_runner.events.processor import (
    BlueGreenPhase,
    BrokerLost,
    JvmGone,
    ProgramPlanned,
    QueryDied,
    QueryMode,
    QueryUse,
    ScalingDecided,
    WorkersChanged,
)
from lsql_runner.events.state import State
from lsql_runner.events.workers import JoinedWorker
from lsql_runner.observe.metric_table import METRICS
from lsql_runner.observe.metrics import Metrics
from lsql_runner.status.lifecycle import Cause

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def metrics_of(scenario: str = "starting") -> tuple[FakeProcessor, Metrics]:
    processor = SCENARIOS[scenario]()
    metrics = Metrics(processor.identity, processor.status, lambda: processor.now_ms)
    processor.listeners.append(metrics)
    return processor, metrics


def scrape(metrics: Metrics) -> Samples:
    body, _ = metrics.render("")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in parse_text(body.decode())
        for sample in family.samples
    }


def value(metrics: Metrics, name: str, **labels: str) -> float:
    return scrape(metrics)[name, frozenset(labels.items())]


def run_two_batches() -> tuple[FakeProcessor, Metrics]:
    processor, metrics = metrics_of()
    processor.plan()
    processor.transition(Cause.RUN)
    processor.batch()
    processor.batch()
    return processor, metrics


def test_the_metrics_of_the_table_and_no_others_are_exposed() -> None:
    processor, metrics = run_two_batches()
    processor.emit(BrokerLost(0, report(LsqlError("BROKER_UNREACHABLE", servers="k", reason="w"))))

    body, _ = metrics.render("")
    exposed = {f.name + ("_total" if f.type == "counter" else "") for f in parse_text(body.decode())}

    assert {name for name in exposed if not name.startswith("process_")} == {m.name for m in METRICS}


@pytest.mark.parametrize("spec", METRICS, ids=lambda m: m.name)
def test_type_labels_and_help_are_those_of_the_table(spec: object) -> None:
    _, metrics = run_two_batches()
    body, _ = metrics.render("")
    families = {f.name: f for f in parse_text(body.decode())}
    (m,) = [m for m in METRICS if m is spec]

    family = families[m.family]
    assert (family.type, family.documentation) == (m.type, m.help)
    labels = {frozenset(s.labels) - {"le"} for s in family.samples}
    assert labels <= {frozenset(m.labels)}


def test_batches_are_counted_by_query() -> None:
    processor, metrics = run_two_batches()
    status = processor.status()

    assert value(metrics, "lsql_batches_total", query="fast-vehicles") == 2
    assert value(metrics, "lsql_records_in_total", query="fast-vehicles") == status.records_in
    assert value(metrics, "lsql_records_out_total", query="fast-vehicles") == status.records_out
    assert value(metrics, "lsql_batch_duration_seconds_count", query="fast-vehicles") == 2
    assert value(
        metrics, "lsql_batch_phase_duration_seconds_sum", query="fast-vehicles", phase="walCommit"
    ) == pytest.approx(0.024)


def test_lag_position_and_end_are_reported_for_each_partition() -> None:
    processor, metrics = run_two_batches()
    labels = {"topic": "vehicle-positions", "partition": "3"}

    values = [value(metrics, f"lsql_{name}", **labels) for name in ("position_offset", "lag_records", "end_offset")]

    assert values[0] + values[1] == values[2]
    assert sum(processor.status().lags.values()) == sum(
        v for (name, _), v in scrape(metrics).items() if name == "lsql_lag_records"
    )


def test_delays_are_seconds_from_event_time() -> None:
    processor, metrics = run_two_batches()
    processor.advance_s(5)

    assert value(metrics, "lsql_event_time_delay_seconds", query="fast-vehicles") == pytest.approx(0.34)
    assert value(metrics, "lsql_watermark_delay_seconds", query="fast-vehicles") == pytest.approx(15.34)


def test_stores_report_rows_and_memory() -> None:
    _, metrics = run_two_batches()
    labels = {"query": "fast-vehicles", "store": "vehicles-latest"}

    assert value(metrics, "lsql_state_rows", **labels) == 2_412
    assert value(metrics, "lsql_state_memory_bytes", **labels) == 1_204_224


def test_the_memory_budget_and_what_is_used_of_it_are_exposed() -> None:
    _, metrics = metrics_of("running")

    assert value(metrics, "lsql_memory_limit_bytes") == 768 << 20
    assert value(metrics, "lsql_memory_budget_bytes", part="heap") == 304 << 20
    assert value(metrics, "lsql_memory_used_bytes", part="heap") == 100 << 20
    assert value(metrics, "lsql_memory_used_bytes", part="reserve") == 9 << 20
    assert value(metrics, "lsql_memory_private_bytes", process="jvm") == 380 << 20
    assert value(metrics, "lsql_memory_private_bytes", process="python") == 112 << 20
    assert value(metrics, "lsql_jvm_heap_committed_bytes") == 160 << 20
    assert value(metrics, "lsql_jvm_metaspace_bytes") == 18 << 20
    assert value(metrics, "lsql_jvm_direct_buffers_bytes") == 2 << 20
    assert value(metrics, "lsql_jvm_threads") == 290


def test_the_jvm_reports_heap_native_memory_collections_and_processor_time() -> None:
    _, metrics = metrics_of("running")

    assert value(metrics, "lsql_jvm_heap_used_bytes") == 100 << 20
    assert value(metrics, "lsql_jvm_heap_max_bytes") == 304 << 20
    assert value(metrics, "lsql_jvm_native_bytes") == (380 - 160 - 44) << 20
    assert value(metrics, "lsql_jvm_gc_collections_total", collector="Copy") == 31
    assert value(metrics, "lsql_jvm_gc_seconds_total", collector="MarkSweepCompact") == 0.31
    assert value(metrics, "lsql_jvm_cpu_seconds_total") == 9.5


def test_the_volume_of_the_state_reports_its_size_and_free_space() -> None:
    _, metrics = metrics_of("running")

    assert value(metrics, "lsql_state_volume_size_bytes") == 1 << 30
    assert value(metrics, "lsql_state_volume_free_bytes") == 900 << 20


def test_workers_and_their_slots_are_counted_where_a_processor_has_workers() -> None:
    processor, metrics = metrics_of("running")
    assert {name for name, _ in scrape(metrics)}.isdisjoint({"lsql_workers", "lsql_worker_slots"})

    processor.emit(
        WorkersChanged(processor.now_ms, (JoinedWorker("10.0.0.1:4000", 2), JoinedWorker("10.0.0.2:4000", 4)))
    )

    assert value(metrics, "lsql_workers") == 2
    assert value(metrics, "lsql_worker_slots") == 6


def test_the_wanted_number_of_workers_is_absent_while_it_is_not_known() -> None:
    processor, metrics = metrics_of("running")
    assert "lsql_workers_wanted" not in {name for name, _ in scrape(metrics)}

    decided = ScalingDecided(
        at_ms=processor.now_ms, wanted=3, current=2, minimum=1, maximum=6, dry_run=False, reason="a reason"
    )
    processor.emit(decided)
    assert value(metrics, "lsql_workers_wanted") == 3

    processor.emit(decided.unknown(processor.now_ms, "a reason"))
    assert "lsql_workers_wanted" not in {name for name, _ in scrape(metrics)}


def test_the_rate_of_a_worker_is_absent_while_it_is_not_known_and_stays_without_a_number() -> None:
    processor, metrics = metrics_of("running")
    decided = ScalingDecided(
        at_ms=processor.now_ms, wanted=3, current=2, minimum=1, maximum=6, dry_run=False, reason="a reason"
    )
    processor.emit(decided)
    assert "lsql_worker_records_per_second" not in {name for name, _ in scrape(metrics)}

    processor.emit(replace(decided, worker_rate_per_s=1_200.5).unknown(processor.now_ms, "a reason"))
    assert value(metrics, "lsql_worker_records_per_second") == 1_200.5


def test_memory_that_was_not_measured_has_no_sample() -> None:
    _, metrics = metrics_of("starting")
    names = {name for name, _ in scrape(metrics)}

    assert "lsql_memory_budget_bytes" in names
    unknown = {name for name in names if name.startswith(("lsql_jvm_", "lsql_state_volume_"))} - {"lsql_jvm_up"}
    assert unknown == set()
    assert names.isdisjoint({"lsql_memory_used_bytes", "lsql_memory_private_bytes"})


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_only_the_current_state_is_1(scenario: str) -> None:
    processor, metrics = metrics_of(scenario)
    states = {s.value: value(metrics, "lsql_processor_state", state=s.value) for s in State}

    assert [name for name, v in states.items() if v == 1] == [processor.status().state.value]
    assert sum(states.values()) == 1


def test_only_the_mode_of_a_query_is_1() -> None:
    processor, metrics = metrics_of("running")
    processor.emit(
        ProgramPlanned(
            at_ms=0, topics=(), stores=(), generation=1, stateful=True, queries=(QueryUse("counts", "real_time"),)
        )
    )

    modes = {mode: value(metrics, "lsql_query_mode", query="counts", mode=mode) for mode in get_args(QueryMode)}
    assert modes == {"continuous": 0, "real_time": 1, "batches": 0}


def test_a_blue_green_change_has_a_phase() -> None:
    _, metrics = metrics_of("changing")

    phases = {phase: value(metrics, "lsql_blue_green_phase", phase=phase) for phase in get_args(BlueGreenPhase)}
    assert phases == {"building": 0, "ready": 1, "failed": 0}


def test_broker_and_jvm_are_up_until_they_are_lost_and_errors_are_counted_by_code() -> None:
    processor, metrics = metrics_of("running")
    assert value(metrics, "lsql_broker_up") == value(metrics, "lsql_jvm_up") == 1

    processor.emit(BrokerLost(0, report(LsqlError("BROKER_UNREACHABLE", servers="k", reason="w"))))
    processor.emit(JvmGone(0, report(LsqlError("JVM_GONE", reason="r"))))
    processor.emit(QueryDied(0, report(LsqlError("QUERY_FAILED", reason="r")), 1.0))

    assert value(metrics, "lsql_broker_up") == value(metrics, "lsql_jvm_up") == 0
    assert value(metrics, "lsql_errors_total", code="JVM_GONE") == 1
    assert value(metrics, "lsql_errors_total", code="QUERY_FAILED") == 1


def test_restarts_and_build_are_reported() -> None:
    processor, metrics = metrics_of("restarting")
    processor.transition(Cause.RETRY)

    assert value(metrics, "lsql_restarts_total") == 1
    assert value(metrics, "lsql_build_info", version="0.1.0", app_id="fast-vehicles", guarantee="at_least_once") == 1


def test_metrics_of_the_process_are_exposed() -> None:
    _, metrics = metrics_of()

    assert value(metrics, "process_resident_memory_bytes") > 0


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("", "text/plain; version=0.0.4; charset=utf-8"),
        ("*/*", "text/plain; version=0.0.4; charset=utf-8"),
        ("text/html", "text/plain; version=0.0.4; charset=utf-8"),
        (
            "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5",
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
        ),
        (
            "application/openmetrics-text;version=nonsense",
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
        ),
    ],
)
def test_accept_chooses_the_format(accept: str, content_type: str) -> None:
    _, metrics = run_two_batches()

    body, returned_type = metrics.render(accept)

    assert returned_type == content_type
    text = body.decode()
    families = list(parse_openmetrics(text) if "openmetrics" in returned_type else parse_text(text))  # type: ignore[no-untyped-call]
    assert len(families) > len(METRICS)
    assert "_created" not in text


def test_two_processors_in_one_process_have_separate_metrics() -> None:
    first, metrics = run_two_batches()
    _, other = metrics_of("running")

    assert value(metrics, "lsql_batches_total", query="fast-vehicles") == 2
    assert ("lsql_batches_total", frozenset({("query", "fast-vehicles")})) not in scrape(other)
    assert first.status().batches == 2


def test_names_end_in_a_unit_and_counters_in_total() -> None:
    units = (
        "_seconds",
        "_bytes",
        "_records",
        "_offset",
        "_rows",
        "_per_second",
        "_info",
        "_state",
        "_mode",
        "_phase",
        "_up",
        "_threads",
        "_workers",
        "_workers_wanted",
        "_slots",
        "_leader",
    )

    for m in METRICS:
        assert m.name.startswith("lsql_")
        assert m.name.endswith("_total" if m.type == "counter" else units)


def test_module_prints_the_table_as_markdown() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "lsql_runner.observe.metrics"], check=True, capture_output=True, text=True
    ).stdout

    assert "| `lsql_lag_records` | gauge | `topic`, `partition` |" in printed
    assert printed.count("\n| `lsql_") == len(METRICS)
