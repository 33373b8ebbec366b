"""What is in the image, and what is not."""

import json
import subprocess
from pathlib import Path
from typing import Any

MIB = 1 << 20
LARGEST_MIB = 800


def test_it_is_small(root: Path) -> None:
    used = subprocess.run(
        ["du", "--summarize", "--apparent-size", "--block-size=1", root], check=True, capture_output=True, text=True
    )

    assert int(used.stdout.split()[0]) / MIB <= LARGEST_MIB


def test_it_runs_as_a_fixed_user_under_an_init(inspected: dict[str, Any]) -> None:
    config = inspected["Config"]

    assert config["User"] == "10001:10001"
    assert config["Entrypoint"] == ["/usr/bin/tini", "--"]
    assert config["Cmd"] == ["lsql", "run"]


def test_its_labels_say_what_it_is(inspected: dict[str, Any]) -> None:
    labels = inspected["Config"]["Labels"]

    assert labels["org.opencontainers.image.title"] == "lsql-runner"
    assert labels["org.opencontainers.image.version"] == inspected["RepoTags"][0].rsplit(":", 1)[1]
    assert labels["org.opencontainers.image.revision"] not in ("", "unknown")


def test_the_bill_of_materials_names_what_is_in_it(root: Path) -> None:
    document = json.loads((root / "usr/share/lsql-runner.cdx.json").read_text())
    listed = {component["purl"] for component in document["components"]}
    jars = {path.name for path in (root / "opt/app").rglob("*.jar")}
    with_jars = [component for component in document["components"] if component["purl"].startswith("pkg:maven/")]

    assert document["bomFormat"] == "CycloneDX"
    assert any(purl.startswith("pkg:pypi/pyspark@4.2.0") for purl in listed)
    assert any(purl.startswith("pkg:deb/debian/tini@") for purl in listed)
    assert any("kafka-clients@3.9.2" in purl for purl in listed)
    assert len(with_jars) == len(jars)


def test_nothing_in_it_can_be_written_or_run_with_more_rights(root: Path) -> None:
    paths = [path for path in (root / "opt").rglob("*") if not path.is_symlink()]

    assert [path for path in paths if path.stat().st_mode & 0o022 or path.stat().st_uid] == []


def test_tools_of_the_build_are_not_in_it(root: Path) -> None:
    for name in ("pip", "setuptools", "cyclonedx", "tests"):
        assert list(root.glob(f"opt/app/lib/python3*/site-packages/{name}")) == []
    assert not (root / "opt/app/share/lsql-runner/broker-jars").exists()
    assert not (root / "usr/lib/jvm").exists()
