"""A release from its install to its reinstall, with each Helm. After every test it runs and has read all records."""

from collections.abc import Iterator

import pytest

from devkit.broker import Broker
from devkit.cluster import Cluster
from devkit.cluster_feed import Fed, program
from devkit.cluster_release import Helm, HelmFailed
from devkit.helm import tool
from devkit.kubectl import Kubectl
from tests.cluster.conftest import fresh_namespace

# What YAML, templates, shells and Kubernetes each would like to change, and more than a label or an argument holds.
NASTY = """\
-- {{ .Release.Name }} {{- printf "%s" "x" }} $(PATH) $$(PATH) $$ $HOME "double" 'single' `tick` \\n \\ %d ß 漢字 \t tab
-- ---
"""
PADDING = "".join(f"-- line {number} of a long program: $(SQL) {{{{ . }}}}\n" for number in range(1200))


def nasty(source: str, target: str) -> str:
    return f"{NASTY}{PADDING}\n{program(source, target)}\n\n-- '$$' at the end  \n"


@pytest.fixture(scope="class")
def fed(
    request: pytest.FixtureRequest,
    kubectl: Kubectl,
    kafka: Broker,
    image: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Fed]:
    with fresh_namespace(kubectl) as namespace:
        helm = Helm(tool(request.cls.helm), namespace, tmp_path_factory.mktemp("helm"))
        made = Fed(helm, kafka, image)
        made.install(sql=nasty(made.source, made.target))
        yield made


class Release:
    """The tests; `helm` names the program."""

    helm: str

    def test_records_come_out_of_a_new_release(self, fed: Fed) -> None:
        outcome = fed.arrive(30)

        assert outcome.doubled == 0

    def test_the_program_arrives_byte_for_byte(self, fed: Fed) -> None:
        assert fed.processor.stream()["sql"] == nasty(fed.source, fed.target)

    def test_helms_own_test_passes(self, fed: Fed) -> None:
        fed.helm.test(fed.name)

    @pytest.mark.parametrize(
        ("sql", "says"),
        [
            ("INSERT INTO {target} SELECT STREAM nothing FROM {source}", "nothing"),
            ("INSERT INTO {target} SELECT STREAM id FROM no_such_topic", "no_such_topic"),
        ],
    )
    def test_a_wrong_program_is_refused_before_anything_changes(self, fed: Fed, sql: str, says: str) -> None:
        kubectl = fed.helm.kubectl
        kinds = "statefulsets,services,serviceaccounts,persistentvolumeclaims"
        before = {item["metadata"]["name"]: item["spec"] for item in kubectl.list(kinds) if "spec" in item}
        pod, restarts = fed.processor.uid(), fed.processor.restarts()
        wrong = sql.format(source=fed.source, target=fed.target)

        with pytest.raises(HelmFailed):
            fed.helm.upgrade(fed.name, fed.values | {"sql": wrong})

        assert {item["metadata"]["name"]: item["spec"] for item in kubectl.list(kinds) if "spec" in item} == before
        assert (fed.processor.uid(), fed.processor.restarts()) == (pod, restarts)
        assert says in kubectl.run("logs", f"job/{fed.name}-validate")
        fed.traffic.write(10)
        fed.arrive()

    def test_an_upgrade_of_resources_loses_nothing(self, fed: Fed) -> None:
        with fed.traffic:
            fed.upgrade(resources={"limits": {"memory": "1Gi"}, "requests": {"memory": "1Gi"}})

        assert fed.processor.pod()["spec"]["containers"][0]["resources"]["limits"]["memory"] == "1Gi"
        assert fed.arrive().doubled == 0

    def test_an_upgrade_of_the_image_loses_nothing(self, own_cluster: Cluster, fed: Fed) -> None:
        own_cluster.tag(fed.image, f"{fed.image}-next")

        with fed.traffic:
            fed.upgrade(image={"tag": f"{fed.values['image']['tag']}-next"})

        assert fed.processor.pod()["spec"]["containers"][0]["image"] == f"{fed.image}-next"
        assert fed.arrive().doubled == 0

    def test_an_upgrade_of_the_program_and_the_way_back_lose_nothing(self, fed: Fed) -> None:
        former, revision = fed.values, fed.helm.revision(fed.name)
        before = fed.arrive().written
        second = program(fed.source, fed.target, "two")

        with fed.traffic:
            fed.upgrade(sql=second)
            assert fed.processor.stream()["sql"] == second
            fed.arrive_at_mark("two")
            fed.helm.rollback(fed.name, revision)
        fed.values = former

        assert fed.processor.stream()["sql"] == former["sql"]
        fed.traffic.write(10)
        assert fed.arrive().doubled == 0
        assert set(fed.marks()[:before]) == {"one"}
        assert set(fed.marks()[-10:]) == {"one"}

    def test_a_new_release_goes_on_where_the_kept_claim_ended(self, fed: Fed) -> None:
        before = fed.processor.stream()["offsets"]

        fed.helm.uninstall(fed.name)
        assert fed.helm.kubectl.find("pvc", f"{fed.name}-state") is not None
        fed.traffic.write(20)
        fed.helm.install(fed.name, fed.values)

        assert before
        assert fed.arrive().doubled == 0


class TestHelm3(Release):
    helm = "helm3"


class TestHelm4(Release):
    helm = "helm4"
