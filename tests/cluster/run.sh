#!/bin/sh
# Runs the tests of this folder over one cluster: in WORKERS processes, then those that disturb the node by themselves.
# Tests of one module or class share fixtures, so they stay in one process (loadscope).
# Usage: run.sh PYTEST [OPTION...], under `python -m devkit.cluster`. Options that select no test of one run are fine.
set -u
pytest=$1
shift

"$pytest" -n "${WORKERS:-2}" --dist loadscope -m "not node" tests/cluster "$@"
shared=$?
case $shared in 0 | 5) ;; *) exit $shared ;; esac

"$pytest" -m node tests/cluster "$@"
alone=$?
[ $alone = 5 ] && exit $shared
exit $alone
