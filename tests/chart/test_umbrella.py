"""A chart that depends on this one can contain several processors, and take their programs from files."""

import shutil
from pathlib import Path

import pytest

from devkit.helm import CHART, ROOT, Object, ToolFailed, environment, render, run, tool

UMBRELLA = ROOT / "tests/chart/umbrella"
FAST = (UMBRELLA / "sql/fast.sql").read_text(encoding="utf-8")
VENDORED = "charts/lsql-runner"


@pytest.fixture
def umbrella(tmp_path: Path) -> Path:
    """A copy of the umbrella chart, with this chart at the path in its Chart.yaml."""
    for source in (UMBRELLA, CHART):
        shutil.copytree(source, tmp_path / source.relative_to(ROOT), ignore=shutil.ignore_patterns("tests"))
    return tmp_path / UMBRELLA.relative_to(ROOT)


@pytest.fixture
def built(umbrella: Path, helm: str) -> Path:
    """The umbrella chart after `helm dependency update`, with this chart as an archive."""
    run([tool(helm), "dependency", "update", umbrella])
    return umbrella


@pytest.fixture
def vendored(umbrella: Path) -> Path:
    """The umbrella chart with this chart as a folder, and the programs in a folder of this chart."""
    shutil.copytree(CHART, umbrella / VENDORED, ignore=shutil.ignore_patterns("tests"))
    shutil.copytree(umbrella / "sql", umbrella / VENDORED / "sql")
    return umbrella


def programs(objects: list[Object]) -> dict[str, str]:
    """The program of each processor, by its name."""
    workloads = [manifest for manifest in objects if manifest["kind"] == "StatefulSet"]
    return {
        manifest["metadata"]["name"]: environment(manifest["spec"]["template"]["spec"]["containers"][0])["SQL"]
        for manifest in workloads
    }


def test_each_alias_is_a_processor(built: Path, helm: str) -> None:
    sql = programs(render({}, helm=helm, chart=built, release="fleet"))
    assert sql.keys() == {"fleet-fast", "fleet-slow"}
    assert sql["fleet-fast"].endswith("plate <> '$(SQL)'\n")


def test_the_processors_of_a_release_share_no_object(built: Path, helm: str) -> None:
    objects = render({}, helm=helm, chart=built, release="fleet")
    keys = [(manifest["kind"], manifest["metadata"]["name"]) for manifest in objects]
    assert len(keys) == len(set(keys))


def test_a_service_selects_only_its_own_processor(built: Path, helm: str) -> None:
    objects = render({}, helm=helm, chart=built, release="fleet")
    selectors = {
        manifest["metadata"]["name"]: manifest["spec"]["selector"]
        for manifest in objects
        if manifest["kind"] == "Service"
    }
    pods = {
        manifest["metadata"]["name"]: manifest["spec"]["template"]["metadata"]["labels"]
        for manifest in objects
        if manifest["kind"] == "StatefulSet"
    }
    chosen = [name for name, labels in pods.items() if selectors["fleet-fast"].items() <= labels.items()]
    assert chosen == ["fleet-fast"]


def test_a_file_of_the_umbrella_becomes_the_program_by_set_file(built: Path, helm: str) -> None:
    option = f"--set-file=fast.sql={built / 'sql/fast.sql'}"
    assert programs(render({}, option, helm=helm, chart=built, release="fleet"))["fleet-fast"] == FAST


def test_a_file_of_the_vendored_chart_becomes_the_program(vendored: Path, helm: str) -> None:
    values = {"fast": {"sql": "", "sqlFile": "sql/fast.sql"}}
    assert programs(render(values, helm=helm, chart=vendored, release="fleet"))["fleet-fast"] == FAST


def test_the_chart_cannot_read_a_file_of_the_umbrella(built: Path, helm: str) -> None:
    values = {"fast": {"sql": "", "sqlFile": "sql/fast.sql"}}
    with pytest.raises(ToolFailed) as refused:
        render(values, helm=helm, chart=built, release="fleet")
    assert "--set-file sql=fast.sql" in refused.value.output


def test_a_condition_disables_a_processor(built: Path, helm: str) -> None:
    values = {"slow": {"enabled": False}}
    assert programs(render(values, helm=helm, chart=built, release="fleet")).keys() == {"fleet-fast"}
