"""The nodes of the test cluster share nothing but the machine, and what a node leaves behind is found."""

import pytest

from ci.cluster import machine
from ci.cluster.layout import NODES

RULES = [
    "*nat",
    ":POSTROUTING ACCEPT [0:0]",
    ":CNI-aaa - [0:0]",
    ":CNI-bbb - [0:0]",
    ":KUBE-SERVICES - [0:0]",
    '-A POSTROUTING -s 10.244.0.2/32 -m comment --comment "name: \\"lsql-pods-node1\\" id: \\"1\\"" -j CNI-aaa',
    '-A POSTROUTING -s 10.244.1.2/32 -m comment --comment "name: \\"lsql-pods-node2\\" id: \\"2\\"" -j CNI-bbb',
    '-A CNI-bbb ! -d 224.0.0.0/4 -m comment --comment "name: \\"lsql-pods-node2\\" id: \\"2\\"" -j MASQUERADE',
    "-A POSTROUTING -s 10.88.0.0/16 -j CNI-other",
    "COMMIT",
]


@pytest.mark.parametrize(
    "attribute", ["name", "ip", "pod_addresses", "network", "images", "loaded", "folder", "socket"]
)
def test_no_two_nodes_have_the_same(attribute: str) -> None:
    assert len({getattr(node, attribute) for node in NODES}) == len(NODES)


def test_only_the_rules_of_one_node_are_removed_with_it() -> None:
    assert machine.removal(list(machine.own_rules(RULES, ["lsql-pods-node2"]))) == [
        RULES[6].replace("-A", "-D", 1),
        "-F CNI-bbb",
        "-X CNI-bbb",
    ]


def test_all_rules_of_the_cluster_are_its_own() -> None:
    assert set(RULES) - set(machine.own_rules(RULES, machine.OWN_MARKS)) == {RULES[0], RULES[1], RULES[8], RULES[9]}


def test_rules_that_enforce_policies_are_removed_and_those_of_kube_proxy_stay() -> None:
    rules = [
        "*filter",
        ":FORWARD ACCEPT [0:0]",
        ":KUBE-FORWARD - [0:0]",
        ":KUBE-POD-FW-2VRP5ZNHMHZ3DEPE - [0:0]",
        ":KUBE-ROUTER-FORWARD - [0:0]",
        '-A FORWARD -m comment --comment "kube-router netpol - TEMCG2JMHZYE7H7T" -j KUBE-ROUTER-FORWARD',
        '-A FORWARD -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD',
        "-A KUBE-ROUTER-FORWARD -d 10.244.0.5/32 -j KUBE-POD-FW-2VRP5ZNHMHZ3DEPE",
        "COMMIT",
    ]
    assert machine.removal(list(machine.own_rules(rules, machine.POLICY_MARKS))) == [
        rules[5].replace("-A", "-D", 1),
        "-F KUBE-POD-FW-2VRP5ZNHMHZ3DEPE",
        "-F KUBE-ROUTER-FORWARD",
        "-X KUBE-POD-FW-2VRP5ZNHMHZ3DEPE",
        "-X KUBE-ROUTER-FORWARD",
    ]
