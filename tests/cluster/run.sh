#!/bin/sh
# Runs the tests of this folder on one cluster: in WORKERS processes, then, one at a time, those that stop the node.
# `make test-object-store` runs those with an object store, `make test-nodes` those that lose a node,
# `make test-network-policy` those with NetworkPolicies in effect, `make test-keda` those with KEDA. Tests of one module or
# class share fixtures, so they stay in one process (loadscope).
# Usage: run.sh PYTEST [OPTION...], under `python -m devkit.cluster`. It is no error if the options
# select no test in one of the two runs.
set -u
pytest=$1
shift

"$pytest" -n "${WORKERS:-2}" --dist loadscope --no-loadscope-reorder -m "not node and not object_store and not network_policy and not keda" tests/cluster "$@"
shared=$?
case $shared in 0 | 5) ;; *) exit $shared ;; esac

"$pytest" -m "node and not lost_node" tests/cluster "$@"
alone=$?
[ $alone = 5 ] && exit $shared
exit $alone
