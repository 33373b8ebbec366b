"""The schema refuses what the chart does not know, and the defaults are the runner's own."""

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
OPEN = {"topics", "affinity", "podSecurityContext", "podSecurityContext.seccompProfile", "securityContext"} | {
    "securityContext.capabilities",
    "validation.resources",
}
"""Values that hold Kubernetes' or the runner's own objects, which those check themselves."""
RUNNERS_DEFAULTS = {
    "processing.maxRecordsPerBatch": "max_records_per_batch",
    "processing.sampleRecords": "sample_records",
    "processing.stuckAfterSeconds": "stuck_after_s",
    "processing.onDataLoss": "on_data_loss",
    "state.onLoss": "state_on_loss",
    "state.onChange": "state_on_change",
    "metricFrequencyMs": "metric_frequency_ms",
    "logLevel": "log_level",
}


def maps(values: Any, path: str = "") -> Iterator[str]:
    """The paths of all maps below the values, `` for the values themselves."""
    if isinstance(values, dict):
        yield path
        for key, value in values.items():
            yield from maps(value, f"{path}.{key}".lstrip("."))


def at(values: Any, path: str) -> Any:
    for key in path.split(".") if path else []:
        values = values[key]
    return values


@pytest.mark.parametrize("path", sorted(set(maps(VALUES)) - OPEN))
def test_what_the_chart_does_not_know_is_refused(path: str) -> None:
    values = json.loads(json.dumps(VALUES))
    at(values, path)["unheardOf"] = {"really": True}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(values, SCHEMA)


def test_the_defaults_are_well_formed() -> None:
    jsonschema.validate(VALUES, SCHEMA)


def test_helm_tells_the_place_of_an_unknown_value(base: dict[str, object], helm: str) -> None:
    with pytest.raises(ToolFailed) as refused:
        render({**base, "kafak": {}}, helm=helm)
    assert "kafak" in refused.value.said


@pytest.mark.parametrize(("path", "field"), RUNNERS_DEFAULTS.items())
def test_a_default_is_the_runners(path: str, field: str) -> None:
    assert at(VALUES, path) == Settings.model_fields[field].default


def test_the_image_of_test_sidecars_is_the_charts() -> None:
    version = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))["appVersion"]
    text = Path(CHART, "ci/additions-values.yaml").read_text(encoding="utf-8")
    assert text.count(f"image: localhost/lsql-runner:{version}\n") == text.count("image: ")
