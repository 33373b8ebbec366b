"""Versions that are in two files agree, and everything that set-up installs is pinned."""

import re
import tomllib
import xml.etree.ElementTree as ET
from importlib.util import find_spec
from pathlib import Path

import pytest

from ci.tools.go_tools import pinned_version
from ci.tools.keda import KEDA

ROOT = Path(__file__).parents[2]
LOCKS = ["image/requirements-build", "image/requirements", "image/requirements-sbom", "tests/requirements"]
MAVEN = {"m": "http://maven.apache.org/POM/4.0.0"}


def requirements(stem: str) -> list[str]:
    """The requirements of an .in file."""
    lines = (ROOT / f"{stem}.in").read_text().splitlines()
    return [line for line in lines if line and not line.startswith(("#", "-"))]


def locked(stem: str) -> dict[str, str]:
    """Name and version of each package in a lock file."""
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+) \\$", (ROOT / f"{stem}.txt").read_text(), re.MULTILINE))


def jars(pom: str) -> dict[str, str]:
    """Artifact and version of each dependency of a pom."""
    dependencies = ET.parse(ROOT / pom).getroot().findall("m:dependencies/m:dependency", MAVEN)
    return {text(node, "m:artifactId"): text(node, "m:version") for node in dependencies}


def text(node: ET.Element, path: str) -> str:
    return node.findtext(path, "", MAVEN)


@pytest.mark.parametrize("stem", LOCKS)
def test_a_lock_covers_its_list(stem: str) -> None:
    names = [re.split(r"[=<>~!\[]", line)[0].lower() for line in requirements(stem)]
    assert [name for name in names if name not in locked(stem)] == []


@pytest.mark.parametrize("stem", LOCKS)
def test_every_line_of_a_lock_is_a_pin_a_hash_or_a_comment(stem: str) -> None:
    pin = re.compile(r"[a-z0-9-]+==[\w.]+( ; .*)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?|\s*#.*|")
    lines = (ROOT / f"{stem}.txt").read_text().splitlines()
    assert [line for line in lines if not pin.fullmatch(line)] == []


def test_image_and_tests_share_their_versions() -> None:
    image, tests = locked("image/requirements"), locked("tests/requirements")
    assert {name: tests[name] for name in image.keys() & tests.keys()} == {
        name: image[name] for name in image.keys() & tests.keys()
    }


def test_the_package_requires_the_versions_of_the_image() -> None:
    project = tomllib.loads((ROOT / "image/pyproject.toml").read_text())["project"]
    assert sorted(project["dependencies"]) == sorted(requirements("image/requirements"))


def test_the_java_module_is_built_with_the_spark_of_the_image() -> None:
    version = ET.parse(ROOT / "image/jvm/pom.xml").getroot().findtext("m:properties/m:spark.version", "", MAVEN)
    assert version == locked("image/requirements")["pyspark"]


@pytest.mark.parametrize("name", ["kafka-clients", "commons-pool2", "woodstox-core", "stax2-api"])
def test_the_java_module_is_built_with_the_jars_of_the_image(name: str) -> None:
    assert jars("image/jvm/pom.xml")[name] == jars("image/pom.xml")[name]


def test_the_java_module_is_built_with_the_redis_client_of_the_image() -> None:
    assert jars("image/jvm/pom.xml")["jedis"] == jars("image/sinks-pom.xml")["jedis"]


def test_the_connector_of_s3_is_that_of_the_hadoop_in_spark() -> None:
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    [client] = Path(spec.origin).parent.glob("jars/hadoop-client-api-*.jar")
    assert client.name == f"hadoop-client-api-{jars('image/s3a-pom.xml')['hadoop-aws']}.jar"


def test_the_java_tests_use_the_kafka_streams_of_the_version_of_the_client() -> None:
    assert jars("image/jvm/pom.xml")["kafka-streams"] == jars("image/pom.xml")["kafka-clients"]


@pytest.mark.parametrize(
    "name",
    [
        "scala-library",
        "kryo-shaded",
        "hadoop-client-api",
        "hadoop-client-runtime",
        "jackson-core",
        "jackson-databind",
        "jackson-annotations",
        "avro",
        "icu4j",
        "json4s-ast_2.13",
        "log4j-core",
        "log4j-api",
        "slf4j-api",
        "ivy",
    ],
)
def test_the_java_module_is_built_with_the_jars_of_the_installed_spark(name: str) -> None:
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    version = jars("image/jvm/pom.xml")[name]
    assert Path(spec.origin).parent.joinpath("jars", f"{name}-{version}.jar").is_file()


def test_the_pom_of_the_runner_lists_all_its_jars() -> None:
    poms = [ET.parse(ROOT / name).getroot() for name in ("image/pom.xml", "image/sinks-pom.xml")]
    dependencies = [dependency for pom in poms for dependency in pom.findall("m:dependencies/m:dependency", MAVEN)]
    excluded = [
        [text(node, "m:groupId") + ":" + text(node, "m:artifactId") for node in nodes]
        for nodes in (dependency.findall("m:exclusions/m:exclusion", MAVEN) for dependency in dependencies)
    ]
    assert excluded == [["*:*"]] * 7


def test_the_build_tools_meet_the_requirements_of_the_package() -> None:
    project = tomllib.loads((ROOT / "image/pyproject.toml").read_text())
    [requirement] = project["build-system"]["requires"]
    name, minimum = requirement.split(">=")
    assert int(locked("image/requirements-build")[name].split(".")[0]) >= int(minimum)


def test_the_definition_that_validates_a_scaled_object_is_that_of_the_keda_of_the_tests() -> None:
    modules = [(ROOT / folder / "go.mod").read_text() for folder in ("ci/cluster/crds", "ci/keda")]
    versions = {pinned_version(text, KEDA) for text in modules}
    assert len(versions) == 1
