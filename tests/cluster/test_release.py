"""A release from install to reinstall, with each Helm. After every test it runs and has read all records."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from devkit.broker import Broker
from devkit.cluster import KubernetesCluster
from devkit.cluster_release import Helm, HelmFailed
from devkit.helm import tool
from devkit.java_compiler import build_jar
from devkit.kubectl import Kubectl
from devkit.release_with_traffic import ReleaseWithTraffic, merged, program
from lsql_runner.container.budget import needed_limit_mib
from tests.cluster.conftest import fresh_namespace

MAX_PROGRAM_BYTES = 128_000
"""The longest program that the chart accepts. Linux limits a variable, with its name, to 128 KiB."""
# Characters that YAML, templates, shells or Kubernetes could change.
SPECIAL_CHARACTERS = """\
-- {{ .Release.Name }} {{- printf "%s" "x" }} $(PATH) $$(PATH) $$ $HOME "double" 'single' `tick` \\n \\ %d ß 漢字 \t tab
-- ---
"""


FUNCTIONS = "functions"
MARK_OF = """
package com.example;

import org.apache.spark.sql.api.java.UDF1;

public class MarkOf implements UDF1<Long, String> {
    @Override
    public String call(Long id) {
        return id < 0 ? "negative" : "one";
    }
}
"""
DECLARED = "MARK_OF: {class: com.example.MarkOf, arguments: {id: long}, result: string}"


def functions(folder: Path) -> dict[str, Any]:
    """A ConfigMap with the user-defined function MARK_OF, which returns `one` for each id."""
    jar = folder / "functions.jar"
    build_jar({"com/example/MarkOf.java": MARK_OF}, jar)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": FUNCTIONS},
        "data": {"functions.yaml": DECLARED},
        "binaryData": {jar.name: base64.b64encode(jar.read_bytes()).decode()},
    }


def special_program(source: str, target: str) -> str:
    """A program of MAX_PROGRAM_BYTES with special characters, which calls a user-defined function."""
    calling = program(source, target).replace("'one'", "MARK_OF(id)")
    rest = f"\n{calling}\n\n-- '$$' at the end  \n"
    size = MAX_PROGRAM_BYTES - len(f"{SPECIAL_CHARACTERS}{rest}".encode())
    lines = "".join(f"-- line {number} of a long program: $(SQL) {{{{ . }}}}\n" for number in range(size // 40))
    whole = lines[: lines.rindex("\n", 0, size)]
    return f"{SPECIAL_CHARACTERS}{whole.ljust(size, '.')}{rest}"


def log_of_refused_upgrade(release: ReleaseWithTraffic, **values: object) -> str:
    """The log of the validation that refuses an upgrade with these values. AssertionError if the upgrade changed the
    release.
    """
    kubectl = release.helm.kubectl
    kinds = "statefulsets,services,serviceaccounts,persistentvolumeclaims"
    before = {item["metadata"]["name"]: item["spec"] for item in kubectl.list(kinds) if "spec" in item}
    pod, restarts = release.processor.uid(), release.processor.restarts()

    with pytest.raises(HelmFailed):
        release.helm.upgrade(release.name, merged(release.values, values))

    assert {item["metadata"]["name"]: item["spec"] for item in kubectl.list(kinds) if "spec" in item} == before
    assert (release.processor.uid(), release.processor.restarts()) == (pod, restarts)
    return kubectl.run("logs", f"job/{release.name}-validate")


@pytest.fixture(scope="class")
def release(
    request: pytest.FixtureRequest,
    kubectl: Kubectl,
    kafka: Broker,
    image: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ReleaseWithTraffic]:
    with fresh_namespace(kubectl) as namespace:
        namespace.create(functions(tmp_path_factory.mktemp("functions")))
        helm = Helm(tool(request.cls.helm), namespace, tmp_path_factory.mktemp("helm"))
        release = ReleaseWithTraffic(helm, kafka, image)
        release.install(
            sql=special_program(release.source, release.target), userFunctions={"existingConfigMap": FUNCTIONS}
        )
        yield release


class ReleaseTests:
    """The tests for each Helm; `helm` is the name of its program."""

    helm: str

    def test_a_new_release_processes_records(self, release: ReleaseWithTraffic) -> None:
        report = release.await_records(30)

        assert report.duplicates == 0

    def test_the_program_is_passed_unchanged(self, release: ReleaseWithTraffic) -> None:
        longest = special_program(release.source, release.target)

        assert len(longest.encode()) == MAX_PROGRAM_BYTES
        assert release.processor.stream()["sql"] == longest

    def test_a_function_of_a_config_map_is_called(self, release: ReleaseWithTraffic) -> None:
        release.await_records()

        assert set(release.marks()) == {"one"}

    def test_helm_test_passes(self, release: ReleaseWithTraffic) -> None:
        release.helm.test(release.name)

    @pytest.mark.parametrize(
        ("sql", "says"),
        [
            ("INSERT INTO {target} SELECT STREAM nothing FROM {source}", "nothing"),
            ("INSERT INTO {target} SELECT STREAM id FROM no_such_topic", "no_such_topic"),
            ("INSERT INTO {target} SELECT STREAM MARK_OF('x') AS mark FROM {source}", "MARK_OF"),
        ],
    )
    def test_a_wrong_program_is_refused_before_anything_changes(
        self, release: ReleaseWithTraffic, sql: str, says: str
    ) -> None:
        wrong = sql.format(source=release.source, target=release.target)

        assert says in log_of_refused_upgrade(release, sql=wrong)

        release.traffic.write(10)
        release.await_records()

    def test_a_memory_limit_that_is_too_small_is_refused_with_the_limit_to_set(
        self, release: ReleaseWithTraffic
    ) -> None:
        needed_mib = needed_limit_mib(queries=1, stores=0)
        too_small = {"memory": f"{needed_mib - 16}Mi"}

        log = log_of_refused_upgrade(release, resources={"limits": too_small, "requests": too_small})

        assert "MEMORY_LIMIT_TOO_SMALL" in log
        assert f"Set resources.limits.memory to {needed_mib}Mi or more" in log
        release.upgrade(resources={"limits": {"memory": f"{needed_mib}Mi"}, "requests": {"memory": f"{needed_mib}Mi"}})
        release.traffic.write(10)
        release.await_records()

    def test_an_upgrade_of_resources_loses_nothing(self, release: ReleaseWithTraffic) -> None:
        with release.traffic:
            release.upgrade(resources={"limits": {"memory": "1Gi"}, "requests": {"memory": "1Gi"}})

        assert release.processor.pod()["spec"]["containers"][0]["resources"]["limits"]["memory"] == "1Gi"
        assert release.await_records().duplicates == 0

    def test_an_upgrade_of_the_image_loses_nothing(
        self, own_cluster: KubernetesCluster, release: ReleaseWithTraffic
    ) -> None:
        own_cluster.tag(release.image, f"{release.image}-next")

        with release.traffic:
            release.upgrade(image={"tag": f"{release.values['image']['tag']}-next"})

        assert release.processor.pod()["spec"]["containers"][0]["image"] == f"{release.image}-next"
        assert release.await_records().duplicates == 0

    def test_an_upgrade_of_the_program_and_its_rollback_lose_nothing(self, release: ReleaseWithTraffic) -> None:
        former, revision = release.values, release.helm.revision(release.name)
        before = release.await_records().written
        second = program(release.source, release.target, "two")

        with release.traffic:
            release.upgrade(sql=second)
            assert release.processor.stream()["sql"] == second
            release.await_mark("two")
            release.helm.rollback(release.name, revision)
        release.values = former

        assert release.processor.stream()["sql"] == former["sql"]
        release.traffic.write(10)
        assert release.await_records().duplicates == 0
        assert set(release.marks()[:before]) == {"one"}
        assert set(release.marks()[-10:]) == {"one"}

    def test_a_new_release_continues_with_the_kept_claim(self, release: ReleaseWithTraffic) -> None:
        before = release.processor.stream()["offsets"]

        release.helm.uninstall(release.name)
        assert release.helm.kubectl.find("pvc", f"{release.name}-state") is not None
        release.traffic.write(20)
        release.helm.install(release.name, release.values)

        assert before
        assert release.await_records().duplicates == 0


@pytest.mark.thorough  # tests/chart compares what both versions render
class TestHelm3(ReleaseTests):
    helm = "helm3"


class TestHelm4(ReleaseTests):
    helm = "helm4"
