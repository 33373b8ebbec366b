"""The content of the image."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from ci.tools.image import LOCKS, checksum

MIB = 1 << 20
LARGEST_MIB = 800


def test_its_size_is_limited(root: Path) -> None:
    used = subprocess.run(
        ["du", "--summarize", "--apparent-size", "--block-size=1", root], check=True, capture_output=True, text=True
    )

    assert int(used.stdout.split()[0]) / MIB <= LARGEST_MIB


def test_it_runs_as_a_fixed_user_under_an_init(image_metadata: dict[str, Any]) -> None:
    config = image_metadata["Config"]

    assert config["User"] == "10001:10001"
    assert config["Entrypoint"] == ["/usr/bin/tini", "--"]
    assert config["Cmd"] == ["lsql", "run"]


def test_its_labels_describe_it(image_metadata: dict[str, Any]) -> None:
    labels = image_metadata["Config"]["Labels"]

    assert labels["org.opencontainers.image.title"] == "lsql-runner"
    assert labels["org.opencontainers.image.version"] == image_metadata["RepoTags"][0].rsplit(":", 1)[1]
    assert re.fullmatch("[0-9a-f]{40}(-dirty)?", labels["org.opencontainers.image.revision"])


def test_its_labels_say_from_what_it_was_built(image_metadata: dict[str, Any]) -> None:
    labels = image_metadata["Config"]["Labels"]

    assert re.fullmatch("[^ ]+", labels["org.opencontainers.image.base.name"])
    assert re.fullmatch("sha256:[0-9a-f]{64}", labels["org.opencontainers.image.base.digest"])
    assert labels["lsql-runner.lock.python"] == checksum(LOCKS["PYTHON"])
    assert labels["lsql-runner.lock.jars"] == checksum(LOCKS["JARS"])


def test_the_bill_of_materials_is_complete(root: Path) -> None:
    document = json.loads((root / "usr/share/lsql-runner.cdx.json").read_text())
    listed = {component["purl"] for component in document["components"]}
    jars = {path.name for path in (root / "opt/app").rglob("*.jar")}
    with_jars = [component for component in document["components"] if component["purl"].startswith("pkg:maven/")]

    assert document["bomFormat"] == "CycloneDX"
    assert any(purl.startswith("pkg:pypi/pyspark@4.3.0") for purl in listed)
    assert any(purl.startswith("pkg:deb/debian/tini@") for purl in listed)
    assert any("kafka-clients@3.9.2" in purl for purl in listed)
    assert len(with_jars) == len(jars)


def test_it_has_no_writable_and_no_setuid_files(root: Path) -> None:
    paths = [path for path in (root / "opt").rglob("*") if not path.is_symlink()]

    assert [path for path in paths if path.stat().st_mode & 0o022 or path.stat().st_uid] == []


def test_it_has_no_build_tools(root: Path) -> None:
    for name in ("pip", "setuptools", "cyclonedx", "tests"):
        assert list(root.glob(f"opt/app/lib/python3*/site-packages/{name}")) == []
    assert not (root / "opt/app/share/lsql-runner/broker-jars").exists()
    assert not (root / "usr/lib/jvm").exists()


def test_it_has_debians_shell_and_nothing_that_compiles_or_downloads(root: Path) -> None:
    programs = {path.name for folder in ("usr/bin", "opt/app/bin", "opt/jre/bin") for path in (root / folder).iterdir()}

    assert "sh" in programs
    assert programs.isdisjoint({"curl", "wget", "gcc", "cc", "javac", "pip", "pip3"})
