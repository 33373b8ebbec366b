"""The schema refuses unknown values, and has the runner's defaults."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from devkit.helm import CHART, ToolFailed, render
from lsql_runner.config.settings import Settings

SCHEMA = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
VALUES = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
OPEN = {
    "topics",
    "autoscaling.behavior",
    "affinity",
    "podSecurityContext",
    "podSecurityContext.seccompProfile",
    "securityContext",
} | {
    "securityContext.capabilities",
    "validation.resources",
    *(
        f"networkPolicy.{peer}{part}"
        for peer in ("console", "prometheus")
        for part in ("", ".namespaceSelector", ".podSelector", ".podSelector.matchLabels")
    ),
}
"""Values that the schema does not restrict, because Kubernetes or the runner validates them."""
DEFAULTS_OF_RUNNER = {
    "processing.maxRecordsPerBatch": "max_records_per_batch",
    "processing.sampleRecords": "sample_records",
    "processing.stuckAfterSeconds": "stuck_after_s",
    "processing.onDataLoss": "on_data_loss",
    "state.partitions": "state_partitions",
    "state.onLoss": "state_on_loss",
    "state.keepGenerations": "keep_generations",
    "state.checkpoint.keepSeconds": "checkpoint_keep_s",
    "state.checkpoint.maxMiB": "checkpoint_max_mib",
    "state.snapshots.everySeconds": "snapshots_every_s",
    "state.snapshots.keep": "snapshots_keep",
    "upgrade.onMeaningChange": "state_on_meaning_change",
    "autoscaling.enabled": "autoscaling_enabled",
    "autoscaling.dryRun": "autoscaling_dry_run",
    "autoscaling.minReplicas": "autoscaling_min",
    "autoscaling.maxReplicas": "autoscaling_max",
    "autoscaling.target.catchUpSeconds": "autoscaling_catch_up_s",
    "autoscaling.target.lagRecords": "autoscaling_lag",
    "autoscaling.tolerance": "autoscaling_tolerance",
    "autoscaling.windows.upSeconds": "autoscaling_up_window_s",
    "autoscaling.windows.downSeconds": "autoscaling_down_window_s",
    "autoscaling.cooldownSeconds": "autoscaling_cooldown_s",
    "metricFrequencyMs": "metric_frequency_ms",
    "logLevel": "log_level",
}


def maps(values: Any, path: str = "") -> Iterator[str]:
    """The paths of all maps in the values; `` is the path of the values themselves."""
    if isinstance(values, dict):
        yield path
        for key, value in values.items():
            yield from maps(value, f"{path}.{key}".lstrip("."))


def at(values: Any, path: str) -> Any:
    for key in path.split(".") if path else []:
        values = values[key]
    return values


@pytest.mark.parametrize("path", sorted(set(maps(VALUES)) - OPEN))
def test_an_unknown_value_is_refused(path: str) -> None:
    values = json.loads(json.dumps(VALUES))
    at(values, path)["unheardOf"] = {"really": True}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(values, SCHEMA)


def test_the_defaults_are_well_formed() -> None:
    jsonschema.validate(VALUES, SCHEMA)


def test_helm_reports_the_path_of_an_unknown_value(base: dict[str, object], helm: str) -> None:
    with pytest.raises(ToolFailed) as refused:
        render({**base, "kafak": {}}, helm=helm)
    assert "kafak" in refused.value.output


@pytest.mark.parametrize(("path", "field"), DEFAULTS_OF_RUNNER.items())
def test_a_default_is_that_of_the_runner(path: str, field: str) -> None:
    assert at(VALUES, path) == Settings.model_fields[field].default


def test_test_sidecars_use_the_image_of_the_chart() -> None:
    version = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))["appVersion"]
    text = Path(CHART, "ci/additions-values.yaml").read_text(encoding="utf-8")
    assert text.count(f"image: localhost/lsql-runner:{version}\n") == text.count("image: ")
