"""Runs Debian's promtool on the rules of the chart, with series that a test makes up."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

TIMEOUT_S = 60


@dataclass(frozen=True)
class Firing:
    """An alert that fires, with the value that its summary shows."""

    rule: Mapping[str, Any]
    """The rule of the alert, as Prometheus reads it."""
    value: str
    labels: Mapping[str, str]
    """The labels that the result of the expression has."""

    def expected(self) -> dict[str, Any]:
        """As promtool expects it, with all labels and annotations."""
        shown = {name: _with_value(text, self.value) for name, text in self.rule["annotations"].items()}
        return {"exp_labels": {**self.labels, **self.rule["labels"]}, "exp_annotations": shown}


def _with_value(text: str, value: str) -> str:
    for template in ("{{ $value }}", "{{ $value | humanize }}"):
        text = text.replace(template, value)
    return text


def check_rules(groups: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """`promtool check rules`. AssertionError, with its output, if it finds a fault."""
    _run("check", "rules", _written(folder / "rules.yaml", {"groups": groups}))


def check_alert(
    groups: Sequence[Mapping[str, Any]],
    folder: Path,
    series: Mapping[str, str],
    *,
    minute: int,
    alert: str,
    firing: Firing | None,
) -> None:
    """`promtool test rules`: whether an alert fires at a minute. AssertionError, with promtool's output, if not.

    Args:
        groups: the groups of rules.
        folder: for the files of promtool.
        series: values by series, a sample for each minute, in promtool's notation: `0+1x20`.
        minute: when the rules are evaluated, from the first sample.
        alert: the name of the alert.
        firing: the alert as it must fire; None if it must not.
    """
    _written(folder / "rules.yaml", {"groups": groups})
    expected = [] if firing is None else [firing.expected()]
    case = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": [{"eval_time": f"{minute}m", "alertname": alert, "exp_alerts": expected}],
    }
    document = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [case]}
    _run("test", "rules", _written(folder / "test.yaml", document))


def _written(path: Path, document: Mapping[str, Any]) -> Path:
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return path


def _run(*words: str | Path) -> None:
    done = subprocess.run(
        ["promtool", *map(str, words)], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
