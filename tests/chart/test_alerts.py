"""The alerts of the chart, evaluated by promtool on series that a test makes up: when they fire, and when not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from devkit import promtool
from devkit.docs import ROOT
from devkit.helm import CHART, only_object, render
from devkit.markdown import anchors

TARGET = 'namespace="fleet",app="fast-vehicles",instance="10.0.0.7:8083"'
OTHER = 'namespace="fleet",app="other",instance="10.0.0.8:8083"'
LABELS = {"namespace": "fleet", "app": "fast-vehicles", "instance": "10.0.0.7:8083"}


def series(name: str, labels: str = "", target: str = TARGET) -> str:
    return f"{name}{{{target}{',' if labels else ''}{labels}}}"


def states(**values: str) -> dict[str, str]:
    """The series of states, which Prometheus has at each scrape: 1 for the current state."""
    return {series("lsql_processor_state", f'state="{state}"'): text for state, text in values.items()}


STANDBY = 'namespace="fleet",app="fast-vehicles",instance="10.0.0.9:8083"'
LEADS, STANDS_BY = series("lsql_leader"), series("lsql_leader", target=STANDBY)
IS_STANDBY = series("lsql_processor_state", 'state="standby"', target=STANDBY)
LAG = series("lsql_lag_records", 'topic="t",partition="0"')
LAG_OF_1 = series("lsql_lag_records", 'topic="t",partition="1"')
RESTARTS = series("lsql_restarts_total")
STARTED = series("process_start_time_seconds")
LATE = series("lsql_late_records_dropped_total", 'query="stateful-0"')
LETTERS = series("lsql_dead_letters_total", 'topic="t",code="RECORD_MALFORMED"')
LAST_BATCH = series("lsql_last_batch_timestamp_seconds")
SINCE = series("lsql_processor_state_since_timestamp_seconds")
FREE, SIZE = series("lsql_state_volume_free_bytes"), series("lsql_state_volume_size_bytes")


@dataclass(frozen=True)
class Scenario:
    """Series, and whether an alert fires at a minute: the value that it shows, or None."""

    alert: str
    minute: int
    series: Mapping[str, str]
    value: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


SCENARIOS = {
    "the lag of all partitions is high for 10 minutes": Scenario(
        "LsqlProcessorLagging", 12, {LAG: "60000x20", LAG_OF_1: "50000x20"}, "110000"
    ),
    "the lag is high for some minutes": Scenario("LsqlProcessorLagging", 12, {LAG: "0x6 200000x20"}),
    "the lag of another processor is high": Scenario(
        "LsqlProcessorLagging", 12, {series("lsql_lag_records", target=OTHER): "200000x20"}
    ),
    "queries restart again and again": Scenario("LsqlProcessorRestarting", 20, {RESTARTS: "0+1x30"}, "15", LABELS),
    "a query restarted once": Scenario("LsqlProcessorRestarting", 20, {RESTARTS: "0x8 1x30"}),
    "the process starts five times, with longer and longer pauses": Scenario(
        "LsqlProcessorCrashLooping", 24, {STARTED: "100 150 _ 300 _ _ 480x2 _x3 900x2 _x5 1400"}, "5"
    ),
    "the process starts again twice, for new credentials": Scenario(
        "LsqlProcessorCrashLooping", 24, {STARTED: "100x9 660x9 1300x9"}
    ),
    "pods of other addresses follow each other in upgrades": Scenario(
        "LsqlProcessorCrashLooping",
        24,
        {STARTED.replace(".7:", f".{number}:"): f"{'_ ' * (4 * number)}{number}00x3" for number in range(6)},
    ),
    "the processor has failed": Scenario(
        "LsqlProcessorFailed", 2, states(failed="1x9"), "1", LABELS | {"state": "failed"}
    ),
    "the processor has not failed": Scenario("LsqlProcessorFailed", 2, states(failed="0x9", running="1x9")),
    "a changed INSERT has failed": Scenario(
        "LsqlChangeFailed",
        2,
        {series("lsql_blue_green_phase", 'phase="failed"'): "0 1x9"},
        "1",
        LABELS | {"phase": "failed"},
    ),
    "a changed INSERT has taken over": Scenario(
        "LsqlChangeFailed", 9, {series("lsql_blue_green_phase", 'phase="failed"'): "0 0 _x9"}
    ),
    "the processor alternates between waiting and starting": Scenario(
        "LsqlProcessorNotStarting",
        20,
        states(waiting="1 1 0 1 1 0 1 1 0 1x20", starting="0 0 1 0 0 1 0 0 1 0x20", running="0x30"),
        "1",
    ),
    "the processor starts for a quarter of an hour": Scenario(
        "LsqlProcessorNotStarting", 20, states(waiting="0x30", starting="1x30", running="0x30"), "1"
    ),
    "the processor waited and runs now and then": Scenario(
        "LsqlProcessorNotStarting", 20, states(waiting="1x8 0 1x20", starting="0x30", running="0x8 1 0x20")
    ),
    "the processor was stopped by a user": Scenario(
        "LsqlProcessorNotStarting", 20, states(stopped="1x30", waiting="0x30", starting="0x30", running="0x30")
    ),
    "the processor is stopped for more than an hour": Scenario("LsqlProcessorStopped", 65, states(stopped="1x70"), "1"),
    "the processor was stopped for half an hour": Scenario("LsqlProcessorStopped", 65, states(stopped="1x30 0x40")),
    "the brokers do not respond": Scenario("LsqlBrokersLost", 6, {series("lsql_broker_up"): "0x9"}, "0", LABELS),
    "the brokers respond again": Scenario("LsqlBrokersLost", 6, {series("lsql_broker_up"): "0x3 1x9"}),
    "the last batch ended ten minutes ago": Scenario(
        "LsqlProcessorStuck",
        10,
        {LAST_BATCH: "60x20", SINCE: "0x20", LAG: "5x20", **states(running="1x20")},
        "5",
    ),
    "no first batch ends": Scenario(
        "LsqlProcessorStuck", 10, {SINCE: "0x20", LAG: "5x20", **states(running="1x20")}, "5"
    ),
    "batches end": Scenario(
        "LsqlProcessorStuck", 10, {LAST_BATCH: "0+60x20", SINCE: "0x20", LAG: "5x20", **states(running="1x20")}
    ),
    "the processor runs for some minutes": Scenario(
        "LsqlProcessorStuck", 10, {SINCE: "0x3 240x20", LAG: "5x20", **states(running="0x3 1x20")}
    ),
    "there is nothing to read": Scenario(
        "LsqlProcessorStuck", 10, {LAST_BATCH: "60x20", SINCE: "0x20", LAG: "0x20", **states(running="1x20")}
    ),
    "the processor is stopped": Scenario(
        "LsqlProcessorStuck", 10, {LAST_BATCH: "60x20", SINCE: "0x20", LAG: "5x20", **states(running="0x20")}
    ),
    "the first dead letters of the process": Scenario("LsqlDeadLetters", 6, {LETTERS: "_x4 3x20"}, "3"),
    "dead letters after others an hour ago": Scenario("LsqlDeadLetters", 66, {LETTERS: "3x62 6x20"}, "3"),
    "dead letters after a restart of the process": Scenario("LsqlDeadLetters", 36, {LETTERS: "9x30 _x3 2x20"}, "2"),
    "dead letters of an hour ago": Scenario("LsqlDeadLetters", 60, {LETTERS: "0x3 3x70"}),
    "no dead letters": Scenario("LsqlDeadLetters", 20, {RESTARTS: "0x30"}),
    "the first late records of the process": Scenario("LsqlLateRecords", 6, {LATE: "_x4 3x20"}, "3"),
    "late records of an hour ago": Scenario("LsqlLateRecords", 60, {LATE: "0x3 3x70"}),
    "the volume is nearly full": Scenario("LsqlVolumeNearlyFull", 7, {FREE: "99x20", SIZE: "1000x20"}, "9.9"),
    "a tenth of the volume is free": Scenario("LsqlVolumeNearlyFull", 7, {FREE: "100x20", SIZE: "1000x20"}),
    "no metrics for 10 minutes": Scenario(
        "LsqlProcessorGone",
        30,
        {series("lsql_build_info"): "1x9 _x30"},
        "1",
        {"namespace": "fleet", "app": "fast-vehicles"},
    ),
    "the leader has ended, and no standby leads": Scenario(
        "LsqlLeaderMissing", 9, {LEADS: "1x3 stale", STANDS_BY: "0x20"}, "0"
    ),
    "a standby has taken over": Scenario("LsqlLeaderMissing", 9, {LEADS: "1x3 stale", STANDS_BY: "0x4 1x20"}),
    "the standby has no metrics": Scenario("LsqlStandbyMissing", 15, states(running="1x20", standby="0x20"), "0"),
    "the standby does not become warm": Scenario(
        "LsqlStandbyMissing", 15, {**states(running="1x20", standby="0x20"), IS_STANDBY: "0x20"}, "0"
    ),
    "the standby is warm": Scenario(
        "LsqlStandbyMissing", 15, {**states(running="1x20", standby="0x20"), IS_STANDBY: "1x20"}
    ),
    "the metrics come again": Scenario("LsqlProcessorGone", 30, {series("lsql_build_info"): "1x9 _x9 1x20"}),
}


@pytest.fixture(scope="module")
def groups() -> list[dict[str, Any]]:
    """The groups of rules of a processor with a standby, with the defaults of the other values."""
    values = {
        "sql": "x",
        "kafka": {"bootstrapServers": "k:1"},
        "metrics": {"prometheusRule": {"enabled": True}},
        "persistence": {"accessModes": ["ReadWriteMany"]},
        "standby": {"replicas": 1},
    }
    rules: list[dict[str, Any]] = only_object(render(values), "PrometheusRule")["spec"]["groups"]
    return rules


def rules_by_alert(groups: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {rule["alert"]: rule for rule in groups[0]["rules"]}


def test_promtool_accepts_the_rules(groups: list[dict[str, Any]], tmp_path: Path) -> None:
    promtool.check_rules(groups, tmp_path)


def test_promtool_accepts_the_rules_of_the_example(tmp_path: Path) -> None:
    objects = render({}, f"--values={CHART / 'ci-render/prometheus-operator-values.yaml'}")

    promtool.check_rules(only_object(objects, "PrometheusRule")["spec"]["groups"], tmp_path)


@pytest.mark.parametrize("name", SCENARIOS)
def test_an_alert_fires_when_it_should(name: str, groups: list[dict[str, Any]], tmp_path: Path) -> None:
    case = SCENARIOS[name]
    rule = rules_by_alert(groups)[case.alert]
    firing = None if case.value is None else promtool.Firing(rule, case.value, case.labels)

    promtool.check_alert(groups, tmp_path, case.series, minute=case.minute, alert=case.alert, firing=firing)


def test_each_alert_has_a_scenario_in_which_it_fires_and_one_in_which_it_does_not(
    groups: list[dict[str, Any]],
) -> None:
    alerts = set(rules_by_alert(groups))

    assert {case.alert for case in SCENARIOS.values() if case.value is not None} == alerts
    assert {case.alert for case in SCENARIOS.values() if case.value is None} == alerts


def test_the_runbook_of_each_alert_exists(groups: list[dict[str, Any]]) -> None:
    for alert, rule in rules_by_alert(groups).items():
        page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
        assert anchor in anchors(ROOT / page), alert


def test_the_table_of_the_guide_has_the_alerts_and_their_severities(groups: list[dict[str, Any]]) -> None:
    text = (ROOT / "docs/guides/alerts.md").read_text(encoding="utf-8")

    documented = re.findall(r"^\| \[(\w+)\]\(#\w+\) \| (\w+) \|", text, re.MULTILINE)

    assert documented == [(alert, rule["labels"]["severity"]) for alert, rule in rules_by_alert(groups).items()]
