"""The guides use existing chart values, and their values files render."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from devkit.helm import CHART, ROOT, render

NAMES = (
    *("install", "upgrade", "security", "gitops", "migration"),
    *("alerts", "backup", "brokers-down", "scaling", "sizing", "troubleshooting"),
)
GUIDES = [ROOT / f"docs/guides/{name}.md" for name in NAMES]
BLOCK = re.compile(r"^( *)```yaml\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
VALUES = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
SET = re.compile(r"--set(?:-file)?[= ]([\w.]+)=")
NAMED = re.compile(r"`([a-z]\w*(?:\.\w+)+)(?:=\w+)?`")
NOT_VALUES = {"releases.v1", "values.sql", "values.yaml"}
"""Words with a dot that look like values but are not."""


def blocks() -> Iterator[tuple[Path, str]]:
    for guide in GUIDES:
        for indent, body in BLOCK.findall(guide.read_text(encoding="utf-8")):
            yield guide, re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)


FILES = [pytest.param(body, id=f"{guide.stem}-{number}") for number, (guide, body) in enumerate(blocks())]


def merged(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    """The values of both, as Helm merges them: `high` takes precedence."""
    both = {key: merged(low[key], high[key]) for key in low.keys() & high.keys() if isinstance(low[key], dict)}
    return {**low, **high, **both}


def exists(path: str) -> bool:
    values: Any = VALUES
    for key in path.split("."):
        if not isinstance(values, dict) or (values and key not in values):
            return False
        values = values.get(key, {})
    return True


@pytest.mark.parametrize("body", FILES)
def test_yaml_of_a_guide_is_well_formed_and_its_values_render(body: str, base: dict[str, object]) -> None:
    document = yaml.safe_load(body)
    if body.startswith("# values.yaml\n"):
        assert render(merged(base, document))


def test_the_guides_contain_a_values_file() -> None:
    assert sum(body.startswith("# values.yaml\n") for _, body in blocks()) >= 5


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_every_value_that_a_command_sets_exists(guide: Path) -> None:
    paths = SET.findall(guide.read_text(encoding="utf-8"))
    assert [path for path in paths if not exists(path.removeprefix("fast."))] == []


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_every_value_in_the_text_exists(guide: Path) -> None:
    text = guide.read_text(encoding="utf-8")
    if guide.stem == "migration":
        # The first column has the values of the old chart.
        text = re.sub(r"^\| `[^|]*\|", "|", text, flags=re.MULTILINE)
    tops = tuple(f"{key}." for key in VALUES)
    named = {path for path in NAMED.findall(text) if path.startswith(tops)} - NOT_VALUES
    assert {path for path in named if not exists(path)} == set()


def test_the_migration_names_every_value_of_the_old_chart() -> None:
    text = (ROOT / "docs/guides/migration.md").read_text(encoding="utf-8")
    first = " ".join(re.findall(r"^\| (`[^|]*)\|", text, re.MULTILINE))
    old = """replicaCount image.repository image.tag image.pullPolicy resources monitoring.pipeline monitoring.enabled
    monitoring.port monitoring.path monitoring.logLevel podManagementPolicy serviceAccount javaOpts registryProvider sql
    kafka.ssl.enabled trustStoreFileData keyStoreFileData trustStorePassword keyStorePassword keyPassword
    kafka.sasl.enabled keyTabData jaasFileData kafka.sasl.mechanism krb5Conf kafka.bootstrapServers schemaRegistries
    applicationId metricsTopicSuffix metricsFrequency stateStoreDir port"""
    assert [name for name in old.split() if name not in first] == []


def test_an_upgrade_without_hooks_and_one_without_validation_have_no_job(base: dict[str, object]) -> None:
    """As docs/guides/brokers-down.md says."""

    def named(*options: str, **values: object) -> set[tuple[str, str]]:
        return {(manifest["kind"], manifest["metadata"]["name"]) for manifest in render({**base, **values}, *options)}

    job = {("Job", "fast-vehicles-validate")}

    assert named() - named(validation={"enabled": False}) == job
    assert {kind for kind, _ in named() - named("--no-hooks")} == {"Job", "Pod"}
    assert job <= named() - named("--no-hooks")
